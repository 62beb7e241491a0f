import { type RefObject, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'

/** Whether a media query such as `(min-width: 1080px)` matches. */
export function useMediaQuery(query: string): boolean {
  const watch = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(watch, () => window.matchMedia(query).matches)
}

/** Debounces a value, so that typing or holding a key down does not send a request for each change. */
export function useSettled<T>(value: T, ms = 180): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Scrolls an element into view when its content changes: it may be below a long form. */
export function useScrollIntoView<T extends HTMLElement>(shown: unknown): RefObject<T | null> {
  const element = useRef<T>(null)
  useEffect(() => {
    if (shown !== undefined) element.current?.scrollIntoView({ block: 'nearest' })
  }, [shown])
  return element
}
