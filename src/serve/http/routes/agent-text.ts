import { escapeText } from '../../../value/escape-text.ts'

/** What models and runners have written, made harmless for people: it can neither drive a terminal nor reorder words. */
export function harmless<T>(value: T): T {
  if (typeof value === 'string') return escapeText(value) as T
  if (Array.isArray(value)) return value.map(harmless) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, harmless(item)])) as T
}
