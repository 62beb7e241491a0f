import type { AbilityHost } from '../../contracts/ability.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { untilAborted } from '../../value/until-aborted.ts'
import type { MemorySettings } from './memory-settings.ts'

const MOST_NUMBERS = 8_192

/** The vector of a text by the owner's function; undefined, and a word about it, when that fails: words find notes, too. */
export async function embedText(
  text: string,
  { embed, timeoutMs }: Pick<MemorySettings, 'embed' | 'timeoutMs'>,
  { host, signal, notice }: { host: Pick<AbilityHost, 'clock'>; signal: AbortSignal; notice(text: string): void },
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
  if (!isList || numbers.length === 0 || numbers.length > MOST_NUMBERS)
    throw new TypeError(`embed gave no vector of 1 to ${MOST_NUMBERS} numbers`)
  const vector = Float32Array.from(numbers)
  let squares = 0
  for (const value of vector) squares += value * value
  if (!Number.isFinite(squares) || squares === 0) throw new TypeError('embed gave a vector without a direction')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}
