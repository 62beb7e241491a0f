import { X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useEvents } from '../../api/events.ts'
import type { CallEntry } from '../../api/types.ts'
import { CALL_STATUSES } from '../../calls/call.ts'
import { Button } from '../../components/button.tsx'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { CallFilter } from './call-filter.ts'
import styles from './live.module.css'
import { useLatestCalls } from './live-strip.tsx'

interface LiveFiltersProps {
  readonly filter: CallFilter
  readonly onChange: (name: keyof CallFilter, value: string) => void
  readonly onClear: () => void
}

/** Which calls are shown: by text, tool, caller and status. */
export function LiveFilters({ filter, onChange, onClear }: LiveFiltersProps) {
  const { tools, callers } = useSeenNames()
  const { text, tool, caller, status } = filter
  return (
    <FilterBar>
      <SearchField label="Search calls" value={text} onChange={(next) => onChange('text', next)} />
      <div className={styles.choices}>
        <FilterSelect
          label="Status"
          value={status}
          options={CALL_STATUSES}
          onChange={(next) => onChange('status', next)}
        />
        <FilterSelect
          label="Tool"
          value={tool}
          options={optionsOf('Any tool', tools, tool)}
          onChange={(next) => onChange('tool', next)}
        />
        <FilterSelect
          label="Caller"
          value={caller}
          options={optionsOf('Any caller', callers, caller)}
          onChange={(next) => onChange('caller', next)}
        />
      </div>
      {Object.values(filter).some((value) => value !== '') && (
        <Button variant="quiet" icon={X} onClick={onClear}>
          Clear filters
        </Button>
      )}
    </FilterBar>
  )
}

// The selected name stays an option, even if it has not been seen recently.
function optionsOf(all: string, names: readonly string[], chosen: string): (readonly [string, string])[] {
  const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return [['', all], ...known.map((name) => [name, name] as const)]
}

/** The filter of the page, which is part of the address. */
export function useCallFilter() {
  const [tool, setTool] = useSearchParam('tool')
  const [caller, setCaller] = useSearchParam('caller')
  const [status, setStatus] = useSearchParam('status')
  const [text, setText] = useSearchParam('text')
  const filter = useMemo<CallFilter>(() => ({ tool, caller, status, text }), [tool, caller, status, text])
  const setters: Record<keyof CallFilter, (value: string) => void> = {
    tool: setTool,
    caller: setCaller,
    status: setStatus,
    text: setText,
  }
  return {
    filter,
    isActive: Object.values(filter).some((value) => value !== ''),
    change: (name: keyof CallFilter, value: string) => setters[name](value),
    clear: () => navigate(window.location.pathname, { replace: true }),
  }
}

const MAX_NAMES = 500

/** The tools and callers seen so far, as options of the filters. */
function useSeenNames(): { readonly tools: readonly string[]; readonly callers: readonly string[] } {
  const latest = useLatestCalls()
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set())
  const known = useMemo(() => {
    const all = [...(latest.data?.calls ?? []).map(keyOf), ...seen]
    return new Set(all.slice(0, MAX_NAMES))
  }, [latest.data, seen])
  useEvents(
    (event) => {
      if (event.type !== 'call' || known.has(keyOf(event.call)) || known.size >= MAX_NAMES) return
      setSeen((before) => new Set([...before, keyOf(event.call)]))
    },
    ['call'],
  )
  return useMemo(() => {
    const pairs = [...known].map((key) => JSON.parse(key) as [string, string])
    return { tools: sorted(pairs.map(([tool]) => tool)), callers: sorted(pairs.map(([, caller]) => caller)) }
  }, [known])
}

function keyOf({ tool, caller }: CallEntry): string {
  return JSON.stringify([tool, caller])
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
