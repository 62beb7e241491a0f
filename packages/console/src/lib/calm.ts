import { useLayoutEffect, useRef, useState } from 'react'
import { useShortcut } from './shortcuts.ts'

/** A click or a key press. */
interface Press {
  readonly timeStamp: number
  /** The number of the click in a series of clicks; 0 for a key. */
  readonly detail: number
  readonly repeat?: boolean
}

/** Tells presses that are meant for what is shown now from those that are not. */
export interface Calm {
  /** False during the first 500 ms, in which a button looks inactive. */
  readonly isCalm: boolean
  /** Whether this press counts: not too early, no repeat of a held key, not the second click of a double click. */
  accepts(press: Press): boolean
}

const CALM_MS = 500

/**
 * Guards buttons and keys that have a side effect: a press counts only 500 ms after the subject was first shown. An
 * earlier press was meant for the item that was there before. The time starts again when the subject changes, so pass
 * everything that the decision is about, as text.
 */
export function useCalm(subject: string): Calm {
  const shownAt = useRef(Number.POSITIVE_INFINITY)
  const [isCalm, setCalm] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the subject is what the time is counted for.
  useLayoutEffect(() => {
    shownAt.current = Number.POSITIVE_INFINITY
    setCalm(false)
    let timer: number | undefined
    // A page in the background renders no frames: the time starts when it becomes visible.
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
