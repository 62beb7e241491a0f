import { callerGone } from '../../../caller-gone.ts'

/**
 * Why a request of the legacy era was stopped. A client that ran out of patience says so in its cancellation, and the
 * approval stays; a person who cancels the call withdraws it.
 */
export function cancelReason(reason: unknown): unknown {
  const text = reason instanceof Error ? reason.message : String(reason ?? '')
  return /tim(?:ed|e)[- ]?out|closed|gone/i.test(text) ? callerGone('The client stopped waiting for the call.') : reason
}
