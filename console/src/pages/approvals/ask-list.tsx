import { SplitList } from '../../components/split-list.tsx'
import type { Ask } from './ask.ts'
import { AskRow } from './ask-row.tsx'

/** The asks to choose from. */
export function AskList({ asks, selected, tab }: { asks: readonly Ask[]; selected: string | undefined; tab: string }) {
  return (
    <SplitList label={tab === '' ? 'Waiting' : 'Answered'} selected={selected}>
      {asks.map((ask) => (
        <AskRow key={ask.id} ask={ask} isSelected={ask.id === selected} tab={tab} />
      ))}
    </SplitList>
  )
}
