import { useEffect, useState } from 'react'

/** A value once it has stayed the same for a moment: keys that are held down go over many. */
export function useSettled<T>(value: T, ms = 150): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
