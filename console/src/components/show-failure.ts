import { ApiError } from '../../../src/client/index.ts'
import { readHint } from '../api/read-hint.ts'
import { showToast } from './show-toast.ts'

/** Says why something that was wanted did not happen; for the `catch` of a button. */
export function showFailure(title: string, error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return
  const message = error instanceof Error ? error.message : String(error)
  showToast({ tone: 'bad', title, description: [message, readHint(error)].filter(Boolean).join(' ') })
}
