import { Maximize2, ScanSearch, ZoomIn, ZoomOut } from 'lucide-react'
import { CALL_STATUSES } from '../../calls/call-statuses.ts'
import { Button } from '../../components/button.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { SearchField } from '../../components/search-field.tsx'
import type { TimeSpan } from './time-span.ts'
import { withMargin, type Zoom } from './use-zoom.ts'

interface TimelineBarProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly status: string
  readonly onStatus: (status: string) => void
  readonly zoom: Zoom
  readonly selected: TimeSpan | undefined
  readonly summary: string | undefined
}

/** What the timeline shows: which calls, and how close. */
export function TimelineBar({ text, onText, status, onStatus, zoom, selected, summary }: TimelineBarProps) {
  return (
    <FilterBar summary={summary}>
      <SearchField label="Search calls" value={text} onChange={onText} />
      <FilterSelect label="Status" value={status} options={CALL_STATUSES} onChange={onStatus} />
      <IconButton icon={ZoomIn} label="Zoom in" shortcut="+" onClick={() => zoom.by(0.5)} />
      <IconButton icon={ZoomOut} label="Zoom out" shortcut="-" disabled={zoom.isWhole} onClick={() => zoom.by(2)} />
      <IconButton
        icon={ScanSearch}
        label="Zoom to the selected call"
        shortcut="z"
        disabled={selected === undefined}
        onClick={() => selected && zoom.show(withMargin(selected))}
      />
      {!zoom.isWhole && (
        <Button size="small" variant="quiet" icon={Maximize2} shortcut="0" onClick={zoom.reset}>
          Whole run
        </Button>
      )}
    </FilterBar>
  )
}
