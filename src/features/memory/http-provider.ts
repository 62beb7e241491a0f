import { z } from 'zod'
import { type FeatureHost, messageOf, ToolError } from '../../core/index.ts'
import { escapeLine, parseJson, readBody } from '../../lib/index.ts'
import type { BackendUse } from './backend.ts'
import type { MemoryProvider, ProviderNote } from './provider.ts'
import type { HttpMemory } from './types.ts'

/** More than the largest answer that anybody uses: 50 notes of 20,000 characters. */
const MAX_BYTES = 4_000_000
const SECRET = /\$\{secret:([A-Za-z][\w.-]{0,63})\}/g

const refusal = z.object({ error: z.object({ message: z.string().max(10_000) }) })
const recalled = z.object({ notes: z.array(z.unknown()).max(1_000) })
const forgotten = z.object({ forgotten: z.boolean() })

/** A service that speaks the protocol of docs/reference/memory.md. */
export function createHttpProvider(
  { url, secret, headers = {} }: HttpMemory,
  host: Pick<FeatureHost, 'webFetch' | 'secret'>,
  { timeoutMs }: { readonly timeoutMs: number },
): MemoryProvider {
  const base = readUrl(url)
  const fetch = host.webFetch({ origins: [base.origin], headersTimeoutMs: timeoutMs })
  /** Undefined where it knows no such note. */
  const post = async (path: string, body: unknown, use: BackendUse): Promise<unknown> => {
    const place = new URL(path, base)
    const outcome = await send(place, body, use).catch((error: unknown) => {
      use.connected(place.href, `failed: ${messageOf(error).slice(0, 200)}`)
      throw error
    })
    use.connected(place.href, `answered ${outcome.status}`)
    if (outcome.status === 404) return undefined
    if (outcome.status < 200 || outcome.status >= 300) throw refused(base, outcome, use)
    const answer = parseJson(outcome.text)
    if (answer === undefined) throw foreign(base)
    return answer
  }
  const send = async (place: URL, body: unknown, { signal }: BackendUse) => {
    const response = await fetch(place, {
      method: 'POST',
      headers: {
        ...fillIn(headers, host),
        ...bearer(secret, host),
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    })
    return { status: response.status, text: await readBody(response, MAX_BYTES, () => tooLarge(base)) }
  }
  return {
    name: base.host,
    async recall(query, use) {
      const answer = await post('recall', query, use as BackendUse)
      return parse(recalled, answer, base).notes as readonly ProviderNote[]
    },
    async write(note, use) {
      return (await post('write', note, use as BackendUse)) as { readonly id: string }
    },
    async update(note, use) {
      if ((await post('update', note, use as BackendUse)) === undefined) throw gone(note.id)
    },
    async forget(note, use) {
      const answer = await post('forget', note, use as BackendUse)
      return answer !== undefined && parse(forgotten, answer, base).forgotten
    },
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ToolError('CONFIG_INVALID', 'The url of the memory is not an address of http or https.', {
      fix: { key: 'memory.url', hint: 'Write it whole: https://memory.example.org/v1.' },
    })
  // `recall` is below it, not beside it.
  if (url.username !== '' || url.password !== '')
    throw new ToolError('CONFIG_INVALID', 'The url of the memory carries a user name or password.', {
      fix: { key: 'memory.secret', hint: 'Leave them out of the url, and name a secret.' },
    })
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

function bearer(name: string | undefined, host: Pick<FeatureHost, 'secret'>): Record<string, string> {
  return name === undefined ? {} : { authorization: `Bearer ${secretOf(name, host)}` }
}

function fillIn(headers: Readonly<Record<string, string>>, host: Pick<FeatureHost, 'secret'>): Record<string, string> {
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll(SECRET, (_, secret: string) => secretOf(secret, host)),
  ])
  return Object.fromEntries(filled)
}

function secretOf(name: string, host: Pick<FeatureHost, 'secret'>): string {
  const value = host.secret(name)
  if (value !== undefined) return value
  throw new ToolError('CONFIG_INVALID', `The memory needs the secret ${name}, which is not set.`, {
    fix: { key: 'secrets', hint: 'Add it to secrets in tool-hub.yaml, and set its environment variable.' },
  })
}

function tooLarge(base: URL): ToolError {
  return new ToolError('HTTP_TOO_LARGE', `The memory ${base.host} answered more than ${MAX_BYTES} bytes.`, {
    hint: 'It has to keep to the limit of a recall.',
  })
}

function parse<T>(schema: z.ZodType<T>, answer: unknown, base: URL): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw foreign(base)
}

function foreign(base: URL): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `The memory ${base.host} does not speak the protocol of docs/reference/memory.md.`,
    {
      hint: 'Check memory.url; a reference server is examples/memory-server.mjs.',
      retryable: false,
    },
  )
}

function refused(
  base: URL,
  { status, text }: { readonly status: number; readonly text: string },
  use: BackendUse,
): ToolError {
  const said = refusal.safeParse(parseJson(text))
  if (said.success) use.heardOutside()
  const why = said.success ? `: ${escapeLine(said.data.error.message.slice(0, 500))}` : '.'
  return new ToolError('UPSTREAM_ERROR', `The memory ${base.host} answered ${status}${why}`, {
    hint: status === 401 || status === 403 ? 'Check memory.secret.' : 'Try again later; details are in its own log.',
    retryable: status >= 500 || status === 429,
  })
}

function gone(id: string): ToolError {
  return new ToolError('NOT_FOUND', `There is no note ${JSON.stringify(id)}.`, { hint: 'Recall it again.' })
}
