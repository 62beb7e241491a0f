import { useCallback, useSyncExternalStore } from 'react'

/** Whether a media query holds now, such as `(min-width: 1080px)`; renders again when that changes. */
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
