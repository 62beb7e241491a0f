import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { Tone } from './badge.tsx'
import { classNames } from './class-names.ts'
import { toastManager } from './show-toast.ts'
import styles from './toaster.module.css'

/** Where toasts appear; once, in the shell. */
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
