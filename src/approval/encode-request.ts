import type { Asked } from './ask-kind.ts'

const MOST_CHARS = 1_000_000
const SHOWN_INPUT_CHARS = 200_000

/** The request as other processes read it; of arguments that nobody could read only both ends are there, and it says so. */
export function encodeRequest(request: Asked): string {
  const json = JSON.stringify(request)
  if (json.length <= MOST_CHARS || !('input' in request)) return json
  const input = JSON.stringify(request.input) ?? ''
  const left = input.length - SHOWN_INPUT_CHARS
  if (left <= 0) return json
  const half = SHOWN_INPUT_CHARS / 2
  const ends = `${input.slice(0, half)} … ${left} characters in between are not shown … ${input.slice(-half)}`
  const warning = `WARNING: the arguments have ${input.length} characters, and ${left} in the middle of them are not shown.`
  const reason = 'reason' in request ? `${request.reason} ${warning}` : warning
  return JSON.stringify({ ...request, input: ends, reason })
}

/** Whether others would see only the ends of its arguments. */
export function isFiledInPart(request: Asked): boolean {
  return JSON.stringify(request).length > MOST_CHARS
}
