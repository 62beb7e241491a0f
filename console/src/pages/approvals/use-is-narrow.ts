import { useSyncExternalStore } from 'react'

const NARROW = window.matchMedia('(max-width: 900px)')

/** Whether list and detail have no room beside each other; the same width as in the CSS. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(watch, () => NARROW.matches)
}

function watch(listener: () => void): () => void {
  NARROW.addEventListener('change', listener)
  return () => NARROW.removeEventListener('change', listener)
}
