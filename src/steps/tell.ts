import type { CallEvent } from '../result.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

/** Tells the one who streams this call, and everybody who watches the hub. */
export function tell(parts: Parts, call: Call, event: CallEvent): void {
  call.emit?.(event)
  parts.publish(event)
}
