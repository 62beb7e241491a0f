import { useSyncExternalStore } from 'react'

/** A value that lives outside of React and that components can watch. */
export interface WatchedValue<T> {
  get(): T
  set(value: T): void
  watch(listener: () => void): () => void
}

/** Creates a watched value; `useValue` reads it in a component. */
export function createValue<T>(initial: T): WatchedValue<T> {
  const listeners = new Set<() => void>()
  let current = initial
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return
      current = value
      for (const listener of [...listeners]) listener()
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Reads a watched value, and renders again when it changes. */
export function useValue<T>(value: WatchedValue<T>): T {
  return useSyncExternalStore(value.watch, value.get)
}
