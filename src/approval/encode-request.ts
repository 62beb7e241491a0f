import type { Asked } from './ask-kind.ts'

const MOST_CHARS = 1_000_000
const SHOWN_INPUT_CHARS = 200_000

/** The request as other processes read it; arguments that nobody could read are cut, and say so. */
export function encodeRequest(request: Asked): string {
  const json = JSON.stringify(request)
  if (json.length <= MOST_CHARS || !('input' in request)) return json
  const input = JSON.stringify(request.input) ?? ''
  const left = input.length - SHOWN_INPUT_CHARS
  if (left <= 0) return json
  return JSON.stringify({ ...request, input: `${input.slice(0, SHOWN_INPUT_CHARS)} … ${left} more characters` })
}
