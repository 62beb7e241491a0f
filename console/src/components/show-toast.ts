import { Toast } from '@base-ui/react/toast'
import type { Tone } from './badge.tsx'

/** What a toast says. */
export interface ToastOptions {
  readonly title: string
  readonly description?: string
  readonly tone?: Tone
  /** A button in it, such as `Undo`. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

/** Behind the toasts; only the `Toaster` needs it. */
export const toastManager = Toast.createToastManager<{ tone: Tone }>()

/** Says something for some seconds in the corner, from anywhere: what was done, or why it was not. */
export function showToast({ title, description, tone = 'ok', action }: ToastOptions): void {
  toastManager.add({
    title,
    description,
    data: { tone },
    priority: tone === 'bad' ? 'high' : 'low',
    timeout: tone === 'bad' ? 10_000 : 5_000,
    actionProps: action && { children: action.label, onClick: action.run },
  })
}
