const NO_FAILURE: ReadonlySet<string> = new Set(['ok', 'pending', 'running'])

/** Whether a call with this status ended without a result, for whatever reason. */
export function isFailure(status: string): boolean {
  return !NO_FAILURE.has(status)
}

/** Whether a call with this status was denied or waits for an approval: it did not run, so it did not fail. */
export function isDenial(status: string): boolean {
  return status === 'denied' || status === 'approval_required'
}

/** Whether a call with this status counts as a failure: it ran, or should have, and ended without a result. */
export function countsAsFailure(status: string): boolean {
  return isFailure(status) && !isDenial(status)
}
