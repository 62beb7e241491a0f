/** The choices of a filter by status; `failed` is what the service takes for every kind of failure. */
export const CALL_STATUSES = [
  ['', 'Any status'],
  ['running', 'Running'],
  ['ok', 'Ok'],
  ['failed', 'Failed, of any kind'],
  ['error', 'Error'],
  ['denied', 'Denied'],
  ['timeout', 'Timed out'],
  ['aborted', 'Aborted'],
  ['interrupted', 'Interrupted'],
  ['approval_required', 'Needs approval'],
] as const
