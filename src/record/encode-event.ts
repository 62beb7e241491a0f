import type { EventBody } from './events.ts'
import { safeJson } from './safe-json.ts'

/** Arguments whose JSON is longer are left out of the record. */
export const MAX_ARGS_CHARS = 2_048

/**
 * The JSON of an event as it goes into its line. Arguments over 2 KB are left out, with their size in their place.
 * Never throws; undefined for what does not even tell its type.
 */
export function encodeEvent(event: EventBody): string | undefined {
  const text = safeJson(event)
  if (!text.startsWith('{"type":"')) return undefined
  // All of it is small, so the arguments are: the ordinary call pays for one stringify and one comparison.
  if (text.length <= MAX_ARGS_CHARS || !('args' in event) || event.args === undefined) return text
  const size = sizeOf(event.args)
  if (size !== undefined && size <= MAX_ARGS_CHARS) return text
  return safeJson({ ...event, args: undefined, argsBytes: event.argsBytes ?? size })
}

function sizeOf(value: unknown): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '')
  } catch {
    // Cycles and the like have no size; the record then says only that there were arguments, by their hash.
    return undefined
  }
}
