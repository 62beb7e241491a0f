import type { CallEvent, ContentBlock, ToolResult } from '../core/index.ts'

/** What a call tells before it has a result. */
export interface CallProgress {
  /** `pending`: it waits for somebody else. */
  readonly status: 'running' | 'pending'
  /** What the tool has said so far. */
  readonly content: readonly ContentBlock[]
}

/**
 * A call as its progress and, last, its result. Who stops reading does not stop the call; its signal does. (Unlike
 * `hub.stream` it makes no signal of its own, which would cost more than the rest of a small call.)
 */
export async function* callWithProgress(
  start: (onEvent: (event: CallEvent) => void) => Promise<ToolResult>,
): AsyncGenerator<CallProgress | ToolResult, void, undefined> {
  const waiting: CallProgress[] = []
  let isEnded = false
  let wake = () => {}
  const ended = start((event) => {
    const progress = progressOf(event)
    if (progress) waiting.push(progress)
    wake()
  })
  const end = () => {
    isEnded = true
    wake()
  }
  ended.then(end, end)
  for (;;) {
    while (waiting.length > 0) yield waiting.shift()!
    if (isEnded) break
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  yield await ended
}

function progressOf(event: CallEvent): CallProgress | undefined {
  if (event.type === 'call-progressed') return { status: 'running', content: event.content }
  if (event.type !== 'call-pending') return undefined
  return { status: 'pending', content: [{ type: 'text', text: event.message }] }
}
