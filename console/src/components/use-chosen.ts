import { useEffect, useRef } from 'react'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { navigate } from '../router/router.ts'
import { useMediaQuery } from '../state/use-media-query.ts'
import { neighbourOf, stepFrom } from './list-steps.ts'
import { NARROW_SPLIT } from './split-view.tsx'

interface ChosenOptions {
  readonly list: readonly { readonly id: string }[] | undefined
  /** The chosen one, as the address has it. */
  readonly id: string | undefined
  readonly pathOf: (id: string | undefined) => string
  /** Where there is room, the first one is shown without being chosen. */
  readonly opensFirst?: boolean
  /** One that was done leaves the list, and is not to be shown again meanwhile. */
  readonly leaves?: boolean
}

/** Moves through the list of a split view by keys, and on to the next one when one is done. */
export function useChosen({ list, id, pathOf, opensFirst = true, leaves = true }: ChosenOptions): { goOn(): void } {
  const isNarrow = useMediaQuery(NARROW_SPLIT)
  // The address pins what is shown: one that comes meanwhile never takes its place under somebody's finger.
  const done = useRef<string>(undefined)
  const first = list?.find((each) => !leaves || each.id !== done.current)?.id
  const firstPath = opensFirst && !isNarrow && id === undefined && first !== undefined ? pathOf(first) : undefined
  useEffect(() => {
    if (firstPath !== undefined) navigate(firstPath, { replace: true })
  }, [firstPath])

  const step = (by: number) => {
    const next = stepFrom(list ?? [], id, by)
    if (next !== undefined) navigate(pathOf(next), { replace: id !== undefined })
  }
  useShortcut('j', 'Next', () => step(1))
  useShortcut('k', 'Previous', () => step(-1))
  return {
    goOn() {
      done.current = id
      navigate(pathOf(isNarrow ? undefined : neighbourOf(list ?? [], id ?? '')), { replace: true })
    },
  }
}
