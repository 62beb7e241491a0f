import { type Clock, systemClock } from '@tool-hub/core'
import { LRUCache } from 'lru-cache'
import type { Hop } from './http-request.ts'

/** A response that may be reused. */
export interface KeptAnswer {
  /** HTTP status. */
  readonly status: number
  /** Headers by their lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, decompressed. */
  readonly bytes: Buffer
  /** The URLs that led to it, including redirects; each is checked again before the response is reused. */
  readonly urls: readonly URL[]
}

/** The responses of one run, in memory and up to a limit. */
export interface ResponseCache {
  /** The response to the same request, and its age. */
  find(key: string): { readonly answer: KeptAnswer; readonly ageMs: number } | undefined
  /** Stores a response; the least recently used ones are dropped to make room. */
  keep(key: string, answer: KeptAnswer): void
}

/** The limits of a cache. */
export interface ResponseCacheOptions {
  /** All responses together. Default: 8 MB. */
  readonly maxBytes?: number
  /** One response. Default: 1 MB. */
  readonly maxEntryBytes?: number
  readonly clock?: Clock
}

// A URL and a few headers are stored with the bytes.
const OVERHEAD_BYTES = 2_048
// The response to a request with any other header may be meant for its sender only.
const PLAIN_HEADERS = new Set(['user-agent', 'accept', 'accept-encoding', 'accept-language'])
const KEYED_HEADERS = ['accept', 'accept-encoding', 'accept-language'] as const

/** Creates the cache of one run. */
export function createResponseCache({
  maxBytes = 8_388_608,
  maxEntryBytes = 1_048_576,
  clock = systemClock,
}: ResponseCacheOptions = {}): ResponseCache {
  const entries = new LRUCache<string, { answer: KeptAnswer; keptAt: number }>({
    maxSize: maxBytes,
    maxEntrySize: maxEntryBytes + OVERHEAD_BYTES,
    sizeCalculation: ({ answer }) => answer.bytes.length + OVERHEAD_BYTES,
  })
  return {
    find(key) {
      const entry = entries.get(key)
      return entry && { answer: entry.answer, ageMs: clock.now() - entry.keptAt }
    },
    keep: (key, answer) => void entries.set(key, { answer, keptAt: clock.now() }),
  }
}

/** The key for the response to a request; undefined if it is not cached. */
export function cacheKey({ url, method, headers }: Hop): string | undefined {
  if (method !== 'GET') return undefined
  for (const name of headers.keys()) if (!PLAIN_HEADERS.has(name)) return undefined
  return [url.href, ...KEYED_HEADERS.map((name) => headers.get(name) ?? '')].join('\n')
}

/** Whether the server permits caching a response, and there is a way to reuse it. */
export function mayKeep({ status, headers }: Pick<KeptAnswer, 'status' | 'headers'>, isAgeEnough: boolean): boolean {
  if (status !== 200 || listOf(headers['cache-control']).includes('no-store')) return false
  if (listOf(headers.vary).some((name) => !KEYED_HEADERS.includes(name as never))) return false
  return isAgeEnough || headers.etag !== undefined || headers['last-modified'] !== undefined
}

/** The headers that revalidate a response; undefined if it has no validators. */
export function validators({ headers }: KeptAnswer): ReadonlyMap<string, string> | undefined {
  const asked = new Map<string, string>()
  if (headers.etag !== undefined) asked.set('if-none-match', headers.etag)
  if (headers['last-modified'] !== undefined) asked.set('if-modified-since', headers['last-modified'])
  return asked.size > 0 ? asked : undefined
}

function listOf(value = ''): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
