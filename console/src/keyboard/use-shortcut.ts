import { useEffect, useRef } from 'react'
import { addShortcut } from './shortcuts.ts'

/** Gives the page a key while the component is shown; it appears in the help (`?`) by what it does. */
export function useShortcut(
  keys: string,
  what: string,
  run: (event: KeyboardEvent) => void,
  { group = 'This page', when = true }: { group?: string; when?: boolean } = {},
): void {
  const latest = useRef(run)
  useEffect(() => {
    latest.current = run
  })
  useEffect(() => {
    if (!when) return
    return addShortcut({ keys, what, group, run: (event) => latest.current(event) })
  }, [keys, what, group, when])
}
