import type { CallEvent } from '../../core/index.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

/** Tells the one who streams this call, and everybody who watches the hub. */
export function tell(parts: Parts, call: Call, event: CallEvent): void {
  if (call.emit) emit(call.emit, event)
  parts.publish(event)
}

/** A listener that throws must not take the call down with it: its error goes to the process as its own. */
function emit(listener: (event: CallEvent) => void, event: CallEvent): void {
  try {
    listener(event)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
