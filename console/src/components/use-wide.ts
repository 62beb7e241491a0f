import { useSyncExternalStore } from 'react'

const WIDE = window.matchMedia('(min-width: 1080px)')

/** Whether details fit beside a list; on less they go over it, or take its place. */
export function useWide(): boolean {
  return useSyncExternalStore(watch, () => WIDE.matches)
}

function watch(listener: () => void): () => void {
  WIDE.addEventListener('change', listener)
  return () => WIDE.removeEventListener('change', listener)
}
