import { ToolError } from '../errors.ts'
import { parseAmount, TIME_UNITS } from '../lib/index.ts'
import type { Rate } from '../limits.ts'

/** A bare number is milliseconds. */
const DURATION_UNITS: ReadonlyMap<string, number> = new Map([['', 1], ...TIME_UNITS])

/** Decimal as in "a 5 MB file"; the binary units carry their i. */
const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1_000],
  ['mb', 1_000_000],
  ['gb', 1_000_000_000],
  ['kib', 1_024],
  ['mib', 1_024 ** 2],
  ['gib', 1_024 ** 3],
])

const RATE = /^(\d{1,9}(?:\.\d{1,6})?) ?\/ ?(s|min|m|h)$/

/** What a time, a size or a rate looks like, as patterns for editors. */
export const UNIT_PATTERNS = {
  duration: '^\\d+(\\.\\d+)? ?(ms|s|m|min|h|d)?$',
  size: '^\\d+(\\.\\d+)? ?([bB]|[kKmMgG][iI]?[bB])?$',
  rate: '^\\d+(\\.\\d+)? ?/ ?(s|min|m|h)$',
} as const

/** Milliseconds of `250ms`, `60s`, `5m`, `1h`, `1d`; a bare number is milliseconds. */
export function parseDuration(value: string | number): number {
  return (
    parseAmount(String(value), DURATION_UNITS) ??
    refuse(value, 'a time', 'Use 250ms, 60s, 5m, 1h, 1d or a number of milliseconds, 1 or more.')
  )
}

/** Bytes (or characters) of `512B`, `30KB` = 30,000, `5MB`, `1GB`, `64KiB` = 65,536; a bare number is bytes. */
export function parseSize(value: string | number): number {
  const lower = String(value).toLowerCase()
  return (
    parseAmount(lower, SIZE_UNITS) ??
    refuse(value, 'a size', 'Use 512B, 30KB, 10MB, 1GB (or KiB, MiB, GiB) or a number of bytes, 1 or more.')
  )
}

/** A token bucket of `10/s`, `100/min`, `1000/h`: that many in a burst, that many in the time on average. */
export function parseRate(value: string): Rate {
  const [, count, unit] = RATE.exec(value) ?? []
  const amount = Number(count)
  if (unit === undefined || amount === 0)
    return refuse(value, 'a rate', 'Use 10/s, 100/min, 1000/h or { perSecond: 10, burst: 20 }.')
  return { perSecond: amount / (DURATION_UNITS.get(unit)! / 1_000), burst: Math.max(1, amount) }
}

/** A number of milliseconds as an owner writes it: `15s`, `60s`, `10m`. */
export function formatDuration(ms: number): string {
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000}m`
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}

/** A number of bytes as an owner writes it: `5MiB`, `200MB`, `2GB`. */
export function formatSize(bytes: number): string {
  const units = { GiB: 1_024 ** 3, GB: 1_000_000_000, MiB: 1_024 ** 2, MB: 1_000_000 }
  const [unit, one] = Object.entries(units).find(([, each]) => bytes % each === 0) ?? ['B', 1]
  return `${bytes / one}${unit}`
}

function refuse(value: string | number, what: string, allowed: string): never {
  throw new ToolError('CONFIG_INVALID', `${JSON.stringify(value)} is not ${what}. ${allowed}`, { hint: allowed })
}
