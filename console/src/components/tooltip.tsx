import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'
import { KeyHint } from './key-hint.tsx'
import styles from './tooltip.module.css'

/** A short text at an element on hover and focus; never the only place of something one needs. */
export function Tooltip({ text, shortcut, children }: { text: ReactNode; shortcut?: string; children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={400} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className={styles.positioner}>
          <Base.Popup className={styles.popup}>
            {text}
            {shortcut !== undefined && <KeyHint keys={shortcut} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
