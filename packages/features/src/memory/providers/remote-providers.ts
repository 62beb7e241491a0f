import { type FeatureHost, messageOf, ToolError, type ToolResult } from '@tool-hub/core'
import { escapeLine, parseJson, readBody } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { HttpMemory, McpMemory, McpMemoryTool } from '../types.ts'
import type { BackendUse } from './backend.ts'
import type { MemoryProvider, ProviderNote, ProviderUse } from './provider.ts'

/** Enough for the largest useful response: 50 notes of 20,000 characters. */
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
  /** Returns `undefined` if the service has no such note. */
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
    throw new ToolError('CONFIG_INVALID', 'The url of the memory service is not an http or https URL.', {
      fix: { key: 'memory.url', hint: 'Write the full URL: https://memory.example.org/v1.' },
    })
  if (url.username !== '' || url.password !== '')
    throw new ToolError('CONFIG_INVALID', 'The url of the memory service contains a user name or password.', {
      fix: { key: 'memory.secret', hint: 'Remove them from the url, and use memory.secret.' },
    })
  // So that `recall` is resolved below the path.
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
    hint: 'The service must respect the limit of the request.',
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
  return new ToolError('NOT_FOUND', `Note ${JSON.stringify(id)} not found.`, { hint: 'Recall it again.' })
}

const MAX_TEXT_LENGTH = 200_000

const found = z.object({ notes: z.array(z.unknown()).max(1_000) })

const content = z.object({ content: z.array(z.unknown()), structuredContent: z.unknown().optional() })

const textBlock = z.object({ type: z.literal('text'), text: z.string() })

const written = z.object({ id: z.string().min(1) })

/** Tools of an MCP server, called through the pipeline: policy, records and limits apply to each call. */
export function createMcpProvider({ mcp }: McpMemory): MemoryProvider {
  const { server } = mcp
  const ask = async (tool: string | McpMemoryTool, wish: Readonly<Record<string, unknown>>, use: ProviderUse) => {
    const { tool: name, arguments: names } = typeof tool === 'string' ? { tool, arguments: undefined } : tool
    return answerOf(await use.call(`mcp/${server}.${name}`, named(wish, names)), server)
  }
  const { recall, write, update, forget } = mcp
  return {
    name: `mcp:${server}`,
    async recall({ query, keys, limit, tags }, use) {
      const wish = { query, scopes: keys, limit, ...(tags.length > 0 && { tags }) }
      return toNotes(await ask(recall, wish, use))
    },
    ...(write !== undefined && {
      async write({ id, key, content, tags }, use) {
        const answer = written.safeParse((await ask(write, { id, scope: key, content, tags }, use)).data)
        return { id: answer.success ? answer.data.id : id }
      },
    }),
    ...(update !== undefined && {
      async update({ id, key, content, tags }, use) {
        const changed = { ...(content !== undefined && { content }), ...(tags && { tags }) }
        await ask(update, { id, scope: key, ...changed }, use)
      },
    }),
    ...(forget !== undefined && {
      async forget({ id, key }, use) {
        const answer = forgotten.safeParse((await ask(forget, { id, scope: key }, use)).data)
        // A call that did not fail has deleted the note, unless the server says otherwise.
        return answer.success ? answer.data.forgotten : true
      },
    }),
  } satisfies MemoryProvider
}

interface Answer {
  /** Structured content, or the text parsed as JSON. */
  readonly data: unknown
  readonly text: string
}

/** Renames the arguments as configured; those without a name are not sent. */
function named(wish: Readonly<Record<string, unknown>>, names: McpMemoryTool['arguments']): Record<string, unknown> {
  if (!names) return { ...wish }
  return Object.fromEntries(
    Object.entries(wish).flatMap(([name, value]) => (Object.hasOwn(names, name) ? [[names[name]!, value]] : [])),
  )
}

function answerOf(result: ToolResult, server: string): Answer {
  if (!result.ok) {
    const { code, message, fix, retryable } = result.error
    throw new ToolError(code, `The memory mcp:${server} failed: ${message}`, { fix, retryable })
  }
  const blocks = content.safeParse(result.data)
  if (!blocks.success) return { data: result.data, text: '' }
  const text = blocks.data.content
    .flatMap((block) => {
      const parsed = textBlock.safeParse(block)
      return parsed.success ? [parsed.data.text] : []
    })
    .join('\n')
    .slice(0, MAX_TEXT_LENGTH)
  return { data: blocks.data.structuredContent ?? parseJson(text), text }
}

/** The notes of a response; the text of a server with another format becomes one note. */
function toNotes({ data, text }: Answer): readonly ProviderNote[] {
  const parsed = found.safeParse(data)
  if (parsed.success) return parsed.data.notes as readonly ProviderNote[]
  if (Array.isArray(data)) return data as readonly ProviderNote[]
  const whole = text === '' ? JSON.stringify(data ?? '') : text
  return whole.trim() === '' || whole === '""' ? [] : [{ id: 'answer', content: whole }]
}
