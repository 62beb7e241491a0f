import { TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useEvents } from '../../api/events.ts'
import { api } from '../../api/session.ts'
import type { CallEntry } from '../../api/types.ts'
import { type Resource, useResource } from '../../api/use-resource.ts'
import { countsAsFailure } from '../../calls/call.ts'
import { useWaitingCalls } from '../../calls/waiting.ts'
import { Sparkline } from '../../components/plot.tsx'
import { now } from '../../components/time.tsx'
import { classNames } from '../../lib/class-names.ts'
import { formatDuration } from '../../lib/format.ts'
import { useValue } from '../../lib/watched-value.ts'
import styles from './live.module.css'
import { MINUTE_MS, type Minute, measureMinute, type Sample } from './measure-minute.ts'

/** The last minute: calls, failures and latency. */
export function LiveStrip() {
  const { calls, failures, perSecond, p50Ms, p95Ms, callSlices, failureSlices, running } = useMinute()
  const waiting = useWaitingCalls().calls.length
  const share = calls === 0 ? '' : ` · ${formatShare(failures / calls)}`
  return (
    <div className={styles.frame}>
      <dl className={styles.strip} aria-label="The last minute">
        <StripValue
          name="Calls per second"
          value={formatRate(perSecond)}
          note={`${calls.toLocaleString('en')} in the last minute`}
        >
          <Sparkline values={callSlices} label={`${calls} calls in the last minute`} />
        </StripValue>
        <StripValue
          name="Failures"
          value={failures.toLocaleString('en')}
          note={failures === 0 ? 'none in the last minute' : `in the last minute${share}`}
          about="Excludes calls that were denied or need an approval"
          isBad={failures > 0}
        >
          <Sparkline
            values={failureSlices}
            label={`${failures} failures in the last minute`}
            tone={failures > 0 ? 'bad' : 'quiet'}
          />
        </StripValue>
        <StripValue
          name="p50"
          value={p50Ms === undefined ? '–' : formatDuration(p50Ms)}
          note="half took less"
          about="Excludes calls that waited for a person"
        />
        <StripValue
          name="p95"
          value={p95Ms === undefined ? '–' : formatDuration(p95Ms)}
          note="1 in 20 took longer"
          about="Excludes calls that waited for a person"
        />
        <StripValue
          name="Running"
          value={running.toLocaleString('en')}
          note={waiting === 0 ? 'now' : `now, ${waiting.toLocaleString('en')} waiting`}
          about="Waiting calls need the approval of a person"
        />
      </dl>
    </div>
  )
}

function formatRate(perSecond: number): string {
  if (perSecond === 0) return '0'
  if (perSecond < 0.1) return '< 0.1'
  return perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en')
}

function formatShare(share: number): string {
  return share > 0 && share < 0.01 ? '< 1 %' : `${Math.round(share * 100)} %`
}

interface StripValueProps {
  readonly name: string
  readonly value: string
  readonly note: string
  /** A note on hover. */
  readonly about?: string
  readonly isBad?: boolean
  readonly children?: ReactNode
}

/** A number of the strip, with an optional sparkline. */
function StripValue({ name, value, note, about, isBad = false, children }: StripValueProps) {
  return (
    <div className={styles.item} title={about}>
      <dt className={styles.name}>{name}</dt>
      <dd className={styles.body}>
        <span className={classNames(styles.value, isBad && styles.bad)}>
          {isBad && <TriangleAlert size={14} aria-hidden="true" />}
          {value}
        </span>
        {children}
        <span className={styles.note}>{note}</span>
      </dd>
    </div>
  )
}

// This tool waits for a person, whatever the policy decides.
const ASKING_TOOL = 'core/ask.user'

/** The statistics of all calls of the last minute, regardless of the filter, and how many are running. */
function useMinute(): Minute & { readonly running: number } {
  const samples = useRef(new Map<string, Sample>())
  const running = useRef(new Set<string>())
  const latest = useLatestCalls()
  const current = useValue(now)

  const addSample = (call: CallEntry, at: number) => {
    const { callId, status, durationMs } = call
    if (samples.current.has(callId)) return
    if (status === 'running') return void running.current.add(callId)
    running.current.delete(callId)
    if (durationMs === undefined) return
    const hasWaited = call.effect === 'ask' || call.approvedBy !== undefined || call.tool === ASKING_TOOL
    samples.current.set(callId, { at, durationMs, isFailure: countsAsFailure(status), hasWaited })
  }
  // By the time of arrival: the clocks of server and browser may differ.
  useEvents((event) => event.type === 'call' && addSample(event.call, Date.now()), ['call'])

  // biome-ignore lint/correctness/useExhaustiveDependencies: `addSample` only writes to what lives as long as the page.
  useEffect(() => {
    for (const call of latest.data?.calls ?? []) addSample(call, call.startedAt + (call.durationMs ?? 0))
  }, [latest.data])

  const since = latest.data?.next ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was fetched is in the samples by then.
  return useMemo(() => {
    for (const [id, { at }] of samples.current) if (at < current - MINUTE_MS) samples.current.delete(id)
    return { ...measureMinute(samples.current.values(), current, since), running: running.current.size }
  }, [current, since, latest.data])
}

/** The newest calls regardless of the filter, as initial data of the strip and the filters. */
export function useLatestCalls(): Resource<{ calls: CallEntry[]; next?: number }> {
  return useResource(['calls', 'latest'], () => api.calls.list({ limit: 500 }))
}
