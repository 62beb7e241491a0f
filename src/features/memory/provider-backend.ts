import { z } from 'zod'
import { type FeatureHost, messageOf, ToolError } from '../../core/index.ts'
import { untilAborted } from '../../lib/index.ts'
import type { Backend, BackendNote, BackendUse } from './backend.ts'
import { wholeText } from './clean-note.ts'
import type { MemorySettings } from './memory-settings.ts'
import type { MemoryProvider } from './provider.ts'
import { noteTime } from './stored-note.ts'

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

/** Notes that somebody else keeps: answers are checked, bounded in time and size, and taken for what strangers say. */
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
        // Notes of somebody else are none of the answer, whatever the provider thinks.
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

/** Its time is over when that of the call is, or its own; whatever it throws is said to be its failure. */
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
  const where = issue?.path.join('.') || 'the whole'
  throw new ToolError(
    'UPSTREAM_ERROR',
    `The memory ${name} answered something else than notes: ${where}: ${issue?.message}.`,
    {
      hint: 'docs/reference/memory.md says what a provider answers.',
      retryable: false,
    },
  )
}

function tooSlow(name: string, what: string, timeoutMs: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `The memory ${name} did not ${what} within ${timeoutMs} ms.`, {
    fix: { key: 'memory.limits.timeout', hint: 'Try again, or have the owner raise the limit.' },
  })
}

function cannot(name: string, what: string): ToolError {
  return new ToolError('TOOL_DISABLED', `The memory ${name} cannot ${what} notes.`, {
    hint: 'Its owner named no way to do so.',
  })
}
