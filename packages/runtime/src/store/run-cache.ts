import { type Clock, type RunCache, type SeenFiles, ToolError } from '@tool-hub/core'
import { LRUCache } from 'lru-cache'

/** How much the cache of one run holds; the least recently used entries are evicted. */
interface RunCacheOptions {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly maxValueBytes: number
  readonly clock: Clock
}

interface Entry {
  readonly json: string
  readonly bytes: number
  readonly expiresAt: number | undefined
}

const MAX_SEEN_FILES = 10_000

/** Creates the cache of a run. It keeps JSON texts, so that no two callers ever hold the same object. */
export function createRunCache({
  maxEntries,
  maxBytes,
  maxValueBytes,
  clock,
}: RunCacheOptions): RunCache & { clear(): void } {
  // Created with the first value: most runs cache nothing, and the cache reserves space for all entries.
  let entries: LRUCache<string, Entry> | undefined
  return {
    get(key) {
      const entry = entries?.get(key)
      if (!entry) return undefined
      const { json, expiresAt } = entry
      if (expiresAt === undefined || clock.now() < expiresAt) return { value: JSON.parse(json), expiresAt }
      entries?.delete(key)
      return undefined
    },
    set(key, value, { ttlMs } = {}) {
      const json = toJson(value)
      const bytes = Buffer.byteLength(json)
      const size = bytes + Buffer.byteLength(key)
      const limit = Math.min(maxValueBytes, maxBytes)
      if (size > limit) throw tooLarge(size, limit)
      entries ??= new LRUCache({ max: maxEntries, maxSize: maxBytes })
      entries.set(key, { json, bytes, expiresAt: expiry(ttlMs, clock) }, { size })
      return { bytes }
    },
    clear: () => entries?.clear(),
  }
}

/** Creates the bounded memory of which files a run has read; a file that was evicted only has to be read again. */
export function createSeenFiles(): SeenFiles {
  return new LRUCache<string, string>({ max: MAX_SEEN_FILES })
}

function toJson(value: unknown): string {
  let json: string | undefined
  let cause: unknown
  try {
    json = JSON.stringify(value)
  } catch (error) {
    cause = error
  }
  if (json !== undefined) return json
  throw new ToolError('INPUT_SCHEMA_INVALID', 'Only what JSON can hold is cached.', {
    hint: 'Cache plain data: no functions, cycles, BigInt or undefined.',
    cause,
  })
}

function expiry(ttlMs: number | undefined, clock: Clock): number | undefined {
  if (ttlMs === undefined) return undefined
  if (ttlMs > 0) return clock.now() + ttlMs
  throw new ToolError('INPUT_SCHEMA_INVALID', `ttlMs is ${ttlMs}; it must be over 0.`, {
    hint: 'Leave it out to keep the value for the run.',
  })
}

function tooLarge(bytes: number, limit: number): ToolError {
  return new ToolError(
    'FILE_TOO_LARGE',
    `Key and value have ${bytes} bytes, the cache takes at most ${limit} at a time.`,
    {
      hint: 'Cache a smaller part, or keep it as an artifact.',
      details: { bytes, limit },
    },
  )
}
