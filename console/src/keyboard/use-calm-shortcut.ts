import { useRef } from 'react'
import { useShortcut } from './use-shortcut.ts'

const CALM_MS = 500

/** A key that answers: not while it is held down, and not before what it answers could be seen. */
export function useCalmShortcut(keys: string, what: string, run: () => void, { when = true } = {}): void {
  const shownAt = useRef(performance.now())
  const runCalmly = (event: KeyboardEvent) => {
    if (!event.repeat && event.timeStamp - shownAt.current >= CALM_MS) run()
  }
  useShortcut(keys, what, runCalmly, { when })
}
