import { useEffect, useState } from 'react'

/** A value once it has not changed for a moment: what is typed, or gone over with a key held down, is not asked for each time. */
export function useSettled<T>(value: T, ms = 180): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
