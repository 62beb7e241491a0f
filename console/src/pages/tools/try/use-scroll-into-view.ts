import { type RefObject, useEffect, useRef } from 'react'

/** Brings an element into sight when what it shows is new: it may be below a long form. */
export function useScrollIntoView<T extends HTMLElement>(shown: unknown): RefObject<T | null> {
  const element = useRef<T>(null)
  useEffect(() => {
    if (shown !== undefined) element.current?.scrollIntoView({ block: 'nearest' })
  }, [shown])
  return element
}
