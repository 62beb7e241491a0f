import { formatDuration } from '../../components/format-duration.ts'
import { Sparkline } from '../../components/sparkline.tsx'
import styles from './live-strip.module.css'
import { StripValue } from './strip-value.tsx'
import { useMinute } from './use-minute.ts'

/** The last minute at a glance: how many calls, how many failed, how long they took. */
export function LiveStrip() {
  const { calls, failures, perSecond, p50Ms, p95Ms, callSlices, failureSlices, running } = useMinute()
  const share = calls === 0 ? '' : ` · ${formatShare(failures / calls)}`
  return (
    <div className={styles.frame}>
      <dl className={styles.strip} aria-label="The last minute">
        <StripValue
          name="Calls a second"
          value={formatRate(perSecond)}
          note={`${calls.toLocaleString('en')} in a minute`}
        >
          <Sparkline values={callSlices} label={`${calls} calls in the last minute`} />
        </StripValue>
        <StripValue
          name="Failures"
          value={failures.toLocaleString('en')}
          note={failures === 0 ? 'none in a minute' : `in a minute${share}`}
          about="Without calls that were denied or need an approval"
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
          about="Without calls that waited for a person"
        />
        <StripValue
          name="p95"
          value={p95Ms === undefined ? '–' : formatDuration(p95Ms)}
          note="1 in 20 took longer"
          about="Without calls that waited for a person"
        />
        <StripValue name="Running" value={running.toLocaleString('en')} note="now" />
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
