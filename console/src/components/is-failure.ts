const FAILURES = new Set(['error', 'denied', 'timeout', 'interrupted'])

/** Whether a call ended otherwise than it was meant to. */
export function isFailure(status: string): boolean {
  return FAILURES.has(status)
}
