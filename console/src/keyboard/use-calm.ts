import { useLayoutEffect, useRef, useState } from 'react'
import { useShortcut } from './use-shortcut.ts'

/** A click, or a key. */
interface Press {
  readonly timeStamp: number
  /** Which click of a series it is; 0 for a key. */
  readonly detail: number
  readonly repeat?: boolean
}

/** Whether a press can be meant for what is shown now. */
export interface Calm {
  /** False for the first 500 ms: a button looks inactive meanwhile. */
  readonly isCalm: boolean
  /** Whether this press counts: not too early, no repeat of a held key, not the second click of a double click. */
  accepts(press: Press): boolean
}

const CALM_MS = 500

/**
 * Guards buttons and keys that have a side effect: a press counts only 500 ms after the subject was first shown. What was
 * pressed before that was meant for the item that stood there before. The time starts again when the subject changes, so
 * pass everything that the person decides on, as text.
 */
export function useCalm(subject: string): Calm {
  const shownAt = useRef(Number.POSITIVE_INFINITY)
  const [isCalm, setCalm] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the subject is what the time is counted for.
  useLayoutEffect(() => {
    shownAt.current = Number.POSITIVE_INFINITY
    setCalm(false)
    let timer: number | undefined
    // A page in the background draws no frame: its time starts when somebody looks at it.
    const frame = requestAnimationFrame(() => {
      shownAt.current = performance.now()
      timer = window.setTimeout(() => setCalm(true), CALM_MS)
    })
    return () => {
      cancelAnimationFrame(frame)
      window.clearTimeout(timer)
    }
  }, [subject])
  return {
    isCalm,
    accepts({ timeStamp, detail, repeat = false }) {
      return !repeat && detail <= 1 && timeStamp - shownAt.current >= CALM_MS
    },
  }
}

/** A key that has a side effect: it counts under the same conditions as a click. */
export function useCalmShortcut(
  keys: string,
  what: string,
  calm: Calm,
  run: () => void,
  { when = true }: { when?: boolean } = {},
): void {
  useShortcut(keys, what, (event) => calm.accepts(event) && run(), { when })
}
