import { z } from 'zod'
import { type Feature, type FeatureHost, messageOf, ToolError, type ToolResult } from '../../core/index.ts'
import { parseJson, untilAborted } from '../../lib/index.ts'
import type { Backend, BackendNote, BackendUse } from './backend.ts'
import { openCandidates } from './candidates.ts'
import { createHttpProvider } from './http-provider.ts'
import { createHandle } from './memory-handle.ts'
import { createService } from './memory-service.ts'
import { isHttp, isMcp, type MemorySettings, readSettings } from './memory-settings.ts'
import type { MemoryProvider, ProviderNote, ProviderUse } from './provider.ts'
import { createProviderBackend } from './provider-backend.ts'
import type { FoundNote } from './store.ts'
import { isUntrusted, keepsUntrusted, toNote } from './stored-note.ts'
import type { McpMemory, McpMemoryTool, MemoryHandle, MemoryNote, MemoryOptions, MemoryService } from './types.ts'

const MAX_TEXT_LENGTH = 200_000

const found = z.object({ notes: z.array(z.unknown()).max(1_000) })

const content = z.object({ content: z.array(z.unknown()), structuredContent: z.unknown().optional() })

const textBlock = z.object({ type: z.literal('text'), text: z.string() })

const written = z.object({ id: z.string().min(1) })

const forgotten = z.object({ forgotten: z.boolean() })

const MAX_NUMBERS = 8_192

/** The usual number of reciprocal rank fusion: the first places of each list stand out, and none decides alone. */
const K = 60

/** How far down each of the two lists is looked at, when notes are found by words and by meaning. */
const MERGED = 50

/** What agents remember: notes in scopes, by the store of the hub or by a provider; written ones wait for review unless the owner says. */
export function createMemory(
  options: MemoryOptions,
  host: FeatureHost,
  candidates = host.archives && openCandidates(host.archives),
): Feature<MemoryHandle, MemoryService> {
  const settings = readSettings(options)
  const parts = { settings, host, backend: openBackend(settings, host), candidates }
  return {
    handle: (call) => createHandle(parts, call),
    service: createService(parts),
    async endRun(run) {
      await host.store.memory.removeScope(`run:${run}`)
    },
    async close() {},
  }
}

function openBackend(settings: MemorySettings, host: FeatureHost): Backend {
  const { provider, timeoutMs } = settings
  if (provider === 'embedded') return createEmbeddedBackend(settings, host)
  if (isHttp(provider)) return createProviderBackend(createHttpProvider(provider, host, { timeoutMs }), settings, host)
  return createProviderBackend(isMcp(provider) ? createMcpProvider(provider) : provider, settings, host)
}

/** Notes in the store of the hub. */
export function createEmbeddedBackend(settings: MemorySettings, host: FeatureHost): Backend {
  const { memory } = host.store
  const { notesPerScope: maxInScope } = settings
  const embed = (text: string, { signal, notice }: BackendUse) => embedText(text, settings, { host, signal, notice })
  const find = async (id: string): Promise<MemoryNote | undefined> => {
    const note = await memory.find(id)
    return note && toNote(note)
  }
  return {
    name: 'embedded',
    own: { find },
    async recall({ query, keys, limit, tags }, use) {
      const asked = { scopes: keys, tags, now: host.clock.now(), text: query }
      const vector = await embed(query, use)
      if (!vector) return (await memory.search({ ...asked, limit })).map(toBackendNote)
      const byWords = await memory.search({ ...asked, limit: Math.max(MERGED, limit) })
      const byMeaning = await memory.nearest({ scopes: keys, tags, vector, limit: Math.max(MERGED, limit) })
      return mergeRanks<FoundNote>([byWords, byMeaning], ({ note }) => note.id)
        .slice(0, limit)
        .map(([{ note }, score]) => toBackendNote({ note, score }))
    },
    async write({ id, key, content, tags, origin }, use) {
      const vector = await embed(content, use)
      const at = { createdAt: origin.at, updatedAt: origin.at }
      const note = { id, scope: key, text: content, tags, origin: JSON.stringify(origin), ...at }
      await memory.add(note, { maxInScope, ...(vector && { vector }) })
      return id
    },
    async update({ id, key, content, tags, origin }, use) {
      const known = await find(id)
      if (known?.key !== key) return false
      const text = content ?? known.content
      const vector = await embed(text, use)
      const { createdAt } = known
      const kept = { scope: key, text, tags: tags ?? known.tags, createdAt, updatedAt: host.clock.now() }
      const tainted = origin.tainted || keepsUntrusted(known, { content, tags })
      const changed = { id, ...kept, origin: JSON.stringify({ ...origin, tainted }) }
      return memory.replace(changed, { maxInScope, ...(vector && { vector }) })
    },
    async forget({ id, key }) {
      return (await find(id))?.key === key && memory.remove(id)
    },
  }
}

/** What the owner is shown of a search, too. */
function toBackendNote({ note, score }: FoundNote): BackendNote {
  const { id, key, content, tags, createdAt, origin } = toNote(note)
  return { id, key, content, tags, createdAt, score, isUntrusted: isUntrusted(origin) }
}

/** One list of several, each best first: what several lists have near their beginning comes first. */
export function mergeRanks<T>(lists: readonly (readonly T[])[], idOf: (item: T) => string): readonly [T, number][] {
  const scores = new Map<string, [T, number]>()
  for (const list of lists) {
    for (const [place, item] of list.entries()) {
      const [first, score] = scores.get(idOf(item)) ?? [item, 0]
      scores.set(idOf(item), [first, score + 1 / (K + place + 1)])
    }
  }
  return [...scores.values()].sort(([, a], [, b]) => b - a)
}

/** The vector of a text by the owner's function; undefined, and a word about it, when that fails: words find notes, too. */
export async function embedText(
  text: string,
  { embed, timeoutMs }: Pick<MemorySettings, 'embed' | 'timeoutMs'>,
  { host, signal, notice }: { host: Pick<FeatureHost, 'clock'>; signal: AbortSignal; notice(text: string): void },
): Promise<Float32Array | undefined> {
  if (!embed) return undefined
  const late = new AbortController()
  const stop = host.clock.after(timeoutMs, () => late.abort(new ToolError('TIMEOUT', `it took over ${timeoutMs} ms`)))
  try {
    const both = AbortSignal.any([signal, late.signal])
    const [vector] = await untilAborted(
      Promise.resolve(embed([text], both)).then((vectors) => [...vectors]),
      both,
    )
    return toUnitVector(vector)
  } catch (error) {
    signal.throwIfAborted()
    notice(`The embedding failed, so notes are compared by their words only: ${messageOf(error).slice(0, 200)}`)
    return undefined
  } finally {
    stop()
  }
}

/** Of length 1, so that the product of two says how far they point the same way. */
function toUnitVector(numbers: unknown): Float32Array {
  const isList = Array.isArray(numbers) || numbers instanceof Float32Array
  if (!isList || numbers.length === 0 || numbers.length > MAX_NUMBERS)
    throw new TypeError(`embed gave no vector of 1 to ${MAX_NUMBERS} numbers`)
  const vector = Float32Array.from(numbers)
  let squares = 0
  for (const value of vector) squares += value * value
  if (!Number.isFinite(squares) || squares === 0) throw new TypeError('embed gave a vector without a direction')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

/** Tools of an MCP server, called down the road: policy, records and limits hold for each. */
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
        // A server that does not say has done what it was told, or had failed.
        return answer.success ? answer.data.forgotten : true
      },
    }),
  } satisfies MemoryProvider
}

interface Answer {
  /** What it says in a form. */
  readonly data: unknown
  readonly text: string
}

/** By their names where those are told; what has none there is not sent. */
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

/** Notes where it gives some; else its text is one, as servers of other protocols answer. */
function toNotes({ data, text }: Answer): readonly ProviderNote[] {
  const parsed = found.safeParse(data)
  if (parsed.success) return parsed.data.notes as readonly ProviderNote[]
  if (Array.isArray(data)) return data as readonly ProviderNote[]
  const whole = text === '' ? JSON.stringify(data ?? '') : text
  return whole.trim() === '' || whole === '""' ? [] : [{ id: 'answer', content: whole }]
}
