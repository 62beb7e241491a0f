import type { CallEvent, ToolResult } from '../core/result.ts'

/** Runs a call when somebody starts to read, and hands its events over in order; who stops reading stops the call. */
export async function* streamEvents(
  start: (emit: (event: CallEvent) => void, signal: AbortSignal) => Promise<ToolResult>,
  callerSignal?: AbortSignal,
): AsyncGenerator<CallEvent, void, undefined> {
  const stopped = new AbortController()
  const signal = callerSignal ? AbortSignal.any([callerSignal, stopped.signal]) : stopped.signal
  const waiting: CallEvent[] = []
  let wake: () => void = () => {}
  const done = start((event) => {
    waiting.push(event)
    wake()
  }, signal)
  let isDone = false
  const finished = done.finally(() => {
    isDone = true
    wake()
  })
  try {
    for (;;) {
      yield* waiting.splice(0)
      if (isDone && waiting.length === 0) break
      await new Promise<void>((resolve) => {
        wake = resolve
        if (waiting.length > 0 || isDone) resolve()
      })
    }
    await finished
  } finally {
    stopped.abort()
    // The call's own promise reports its failure; whoever stopped reading does not wait for it.
    finished.catch(() => {})
  }
}
