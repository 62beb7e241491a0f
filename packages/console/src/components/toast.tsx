import { Toast } from '@base-ui/react/toast'
import { ApiError } from '@tool-hub/client'
import { X } from 'lucide-react'
import { readHint } from '../api/session.ts'
import { classNames } from '../lib/class-names.ts'
import type { Tone } from './badge.tsx'
import styles from './toast.module.css'

/** The content of a toast. */
export interface ToastOptions {
  readonly title: string
  readonly description?: string
  readonly tone?: Tone
  /** A button in it, such as `Undo`. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

/** The manager of the toasts, for the `Toaster`. */
const toastManager = Toast.createToastManager<{ tone: Tone }>()

/** Shows a message in the corner for a few seconds. Can be called from anywhere. */
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

/** Shows why an action failed. */
export function showFailure(title: string, error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return
  const message = error instanceof Error ? error.message : String(error)
  showToast({ tone: 'bad', title, description: [message, readHint(error)].filter(Boolean).join(' ') })
}

/** Where toasts appear; rendered once. */
export function Toaster() {
  return (
    <Toast.Provider toastManager={toastManager} limit={4}>
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager<{ tone: Tone }>()
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={classNames(styles.toast, styles[toast.data?.tone ?? 'quiet'])}>
      <Toast.Content className={styles.content}>
        <div className={styles.words}>
          <Toast.Title className={styles.title} />
          <Toast.Description className={styles.description} />
        </div>
        {toast.actionProps && <Toast.Action className={styles.action} />}
        <Toast.Close className={styles.close} aria-label="Dismiss">
          <X size={14} aria-hidden="true" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ))
}
