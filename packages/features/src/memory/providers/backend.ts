import { type FeatureHost, messageOf, ToolError } from '@tool-hub/core'
import { mergeRanks, toUnitVector, untilAborted } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { MemorySettings } from '../memory-settings.ts'
import { isUntrusted, keepsUntrusted, noteTime, toNote, wholeText } from '../note.ts'
import type { FoundNote } from '../store.ts'
import type { MemoryNote, NoteOrigin } from '../types.ts'
import type { MemoryProvider, ProviderUse } from './provider.ts'

/** What a backend can use of the call, or of the owner, that it works for. */
export interface BackendUse extends ProviderUse {
  notice(text: string): void
  /** Called when an error message contains text from outside. */
  heardOutside(): void
  /** Records a connection. */
  connected(url: string, outcome: string): void
}

/** A note that a backend found. */
export interface BackendNote {
  readonly id: string
  readonly key: string
  readonly content: string
  readonly tags: readonly string[]
  readonly createdAt: number
  readonly score: number
  readonly isUntrusted: boolean
}

/** A search in some scopes. */
interface BackendQuery {
  readonly query: string
  readonly keys: readonly string[]
  readonly limit: number
  readonly tags: readonly string[]
}

/** A note to store. */
export interface BackendWrite {
  readonly id: string
  readonly key: string
  readonly content: string
  readonly tags: readonly string[]
  readonly origin: NoteOrigin
}

/** Where notes are stored: the store of the hub, or a provider. */
export interface Backend {
  readonly name: string
  recall(query: BackendQuery, use: BackendUse): Promise<readonly BackendNote[]>
  /** Stores a note, once for each id, also if a failed write is repeated. Returns the id of the stored note. */
  write(note: BackendWrite, use: BackendUse): Promise<string>
  /** Returns `false` if no note has this id and key. */
  update(
    change: Omit<BackendWrite, 'content' | 'tags'> & Partial<Pick<BackendWrite, 'content' | 'tags'>>,
    use: BackendUse,
  ): Promise<boolean>
  forget(note: { readonly id: string; readonly key: string }, use: BackendUse): Promise<boolean>
  /** Only for the store of the hub, which can look up notes by id. */
  readonly own?: {
    find(id: string): Promise<MemoryNote | undefined>
  }
}

const MAX_NOTES = 50

const id = z
  .string()
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'an id of visible characters')
const note = z.object({
  id,
  content: z.string().max(1_000_000),
  key: z.string().max(1_000).optional(),
  tags: z.array(z.string().max(1_000)).max(100).default([]),
  createdAt: noteTime.optional(),
  score: z.number().optional(),
})
const notes = z.array(note).max(1_000)
const written = z.object({ id })

/** Notes of a provider: results are validated, limited in time and size, and untrusted by default. */
export function createProviderBackend(
  provider: MemoryProvider,
  { noteChars, timeoutMs }: Pick<MemorySettings, 'noteChars' | 'timeoutMs'>,
  host: Pick<FeatureHost, 'clock'>,
): Backend {
  const name = provider.name ?? 'provider'
  const ask = <T>(what: string, use: BackendUse, work: (use: BackendUse) => Promise<T>) =>
    withinTime(what, { name, timeoutMs, clock: host.clock }, use, work)
  return {
    name,
    async recall(query, use) {
      const answer = await ask('recall', use, (bounded) => provider.recall(query, bounded))
      const found = parse(notes, answer, name).flatMap((each): BackendNote[] => {
        const { key = query.keys[0]!, content, tags, createdAt = 0, score = 0 } = each
        // A provider must not leak notes of other scopes.
        if (!query.keys.includes(key)) return []
        const text = { content: wholeText(content.slice(0, noteChars)), tags: tags.map(wholeText) }
        return [{ id: each.id, key, ...text, createdAt, score, isUntrusted: provider.trusted !== true }]
      })
      return found.slice(0, Math.min(query.limit, MAX_NOTES))
    },
    async write(wish, use) {
      if (!provider.write) throw cannot(name, 'write')
      const answer = await ask('write', use, (bounded) => provider.write!(wish, bounded))
      return parse(written, answer, name).id
    },
    async update(wish, use) {
      if (!provider.update) throw cannot(name, 'update')
      await ask('update', use, (bounded) => provider.update!(wish, bounded))
      return true
    },
    async forget(wish, use) {
      if (!provider.forget) throw cannot(name, 'forget')
      return parse(z.boolean(), await ask('forget', use, (bounded) => provider.forget!(wish, bounded)), name)
    },
  }
}

/** Runs a request until the call is cancelled or the timeout is over; errors name the provider. */
async function withinTime<T>(
  what: string,
  { name, timeoutMs, clock }: { name: string; timeoutMs: number; clock: FeatureHost['clock'] },
  use: BackendUse,
  work: (use: BackendUse) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const stop = clock.after(timeoutMs, () => late.abort(tooSlow(name, what, timeoutMs)))
  const signal = AbortSignal.any([use.signal, late.signal])
  try {
    return await untilAborted(Promise.resolve(work({ ...use, signal })), signal)
  } catch (error) {
    use.signal.throwIfAborted()
    if (ToolError.is(error)) throw error
    throw new ToolError('UPSTREAM_ERROR', `The memory ${name} failed to ${what}: ${messageOf(error).slice(0, 500)}`, {
      cause: error,
    })
  } finally {
    stop()
  }
}

function parse<T>(schema: z.ZodType<T>, answer: unknown, name: string): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.') || 'the result'
  throw new ToolError('UPSTREAM_ERROR', `The memory ${name} returned an invalid result: ${where}: ${issue?.message}.`, {
    hint: 'docs/reference/memory.md describes what a provider returns.',
    retryable: false,
  })
}

function tooSlow(name: string, what: string, timeoutMs: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `The memory ${name} did not ${what} within ${timeoutMs} ms.`, {
    fix: { key: 'memory.limits.timeout', hint: 'Try again, or ask the owner to raise the limit.' },
  })
}

function cannot(name: string, what: string): ToolError {
  return new ToolError('TOOL_DISABLED', `The memory ${name} cannot ${what} notes.`, {
    hint: 'The provider does not support it.',
  })
}

/** How many notes of each list are merged when notes are found by words and by meaning. */
const MERGED = 50

/** Notes in the store of the hub, found by words and, with `embed`, by meaning. */
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

function toBackendNote({ note, score }: FoundNote): BackendNote {
  const { id, key, content, tags, createdAt, origin } = toNote(note)
  return { id, key, content, tags, createdAt, score, isUntrusted: isUntrusted(origin) }
}

/** The vector of a text, by the owner's function. If that fails, returns `undefined` with a notice: notes are still found by words. */
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
    notice(`The embedding failed, so notes are compared by words only: ${messageOf(error).slice(0, 200)}`)
    return undefined
  } finally {
    stop()
  }
}
