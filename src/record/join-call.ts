import type { CallEnded, CallInterrupted } from './events.ts'

/**
 * One line for a call: the facts of its start, then those of its end. Both are JSON already, so their texts are joined;
 * only what does not begin as we write it, or repeats facts, is parsed.
 */
export function joinCall(
  started: string | undefined,
  ended: CallEnded | CallInterrupted,
  { seq, time, body }: { readonly seq: number; readonly time: string; readonly body: string },
): string {
  const end = factsStart(body, ended.type, ended)
  const start = started === undefined ? 0 : factsStart(started, 'call-started', ended)
  if (end === -1 || start === -1 || (started !== undefined && 'caller' in ended)) return merge(started, seq, time, body)
  const call = body.slice(ended.type.length + TYPE.length + 2, end)
  const facts = started === undefined ? '' : started.slice(start, -1)
  return `{"seq":${seq},"time":"${time}",${call}${facts}${body.slice(end)}\n`
}

const TYPE = '{"type":"'
const CALL = '","callId":"'
const TOOL = '","tool":"'

/** Where the facts begin behind type, call and tool; -1 when the text does not begin with these. */
function factsStart(text: string, type: string, { callId, tool }: CallEnded | CallInterrupted): number {
  const call = TYPE.length + type.length + CALL.length
  const name = call + callId.length + TOOL.length
  const end = name + tool.length
  const isOurs =
    text.startsWith(type, TYPE.length) &&
    text.startsWith(CALL, call - CALL.length) &&
    text.startsWith(callId, call) &&
    text.startsWith(TOOL, name - TOOL.length) &&
    text.startsWith(tool, name) &&
    text.charAt(end) === '"'
  return isOurs ? end + 1 : -1
}

function merge(started: string | undefined, seq: number, time: string, body: string): string {
  const { type: _, ...fields } = { ...JSON.parse(started ?? '{}'), ...JSON.parse(body) }
  return `${JSON.stringify({ seq, time, ...fields })}\n`
}
