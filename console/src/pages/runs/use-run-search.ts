import { spanLength, startOfDay } from '../../components/time-span.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import { useSettled } from '../../state/use-settled.ts'

/** What the service is asked for. */
export interface RunWish {
  readonly text: string
  readonly caller: string
  /** How far back, in milliseconds; 0 for any time, or for the two that follow. */
  readonly withinMs: number
  readonly from: number | undefined
  readonly to: number | undefined
}

/** The filters of the list of runs, kept in the address, and what is asked once the typing pauses. */
export function useRunSearch() {
  const [text, setText] = useSearchParam('text')
  const [caller, setCaller] = useSearchParam('caller')
  const [within, setWithin] = useSearchParam('within')
  const [from, setFrom] = useSearchParam('from')
  const [to, setTo] = useSearchParam('to')
  const isBetween = within === 'between'
  const wish: RunWish = {
    text: useSettled(text),
    caller,
    withinMs: spanLength(within),
    from: isBetween ? startOfDay(from) : undefined,
    to: isBetween ? startOfDay(to, 1) : undefined,
  }
  return {
    ...{ text, setText, caller, setCaller, within, setWithin, from, setFrom, to, setTo, isBetween, wish },
    isFiltered: [text, caller, within].some((value) => value !== ''),
    clear: () => navigate('/runs', { replace: true }),
  }
}

/** The filters with what changes them. */
export type RunSearch = ReturnType<typeof useRunSearch>
