import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Health } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { formatBytes, formatDate, formatDuration } from '../../lib/format.ts'
import styles from './health.module.css'

type Disk = NonNullable<Health['disk']>['disks'][number]

/** The share of free space below which a disk counts as nearly full. */
const LOW_PART = 0.1

/** The most important numbers. */
export function HealthFacts({ health }: { health: Health }) {
  const { slices, store, disk, config, startedAt, uptimeMs, memoryBytes, inFlight, waiting } = health
  const calls = slices.reduce((sum, slice) => sum + slice.calls, 0)
  const failures = slices.reduce((sum, slice) => sum + slice.failures, 0)
  const denials = slices.reduce((sum, slice) => sum + slice.denials, 0)
  const callerErrors = slices.reduce((sum, slice) => sum + slice.callerErrors, 0)
  return (
    <>
      {!store.ok && (
        <Note tone="bad" isLive title="The store is not working: approvals, budgets and lists may be wrong">
          <p>
            <VisibleText text={store.problem ?? 'No reason was given.'} />
          </p>
          <p>
            Check the disk and the permissions of the data folder, then run <code>tool-hub doctor</code> and{' '}
            <code>tool-hub store check</code>.
          </p>
        </Note>
      )}
      {config?.problem !== undefined && (
        <Note tone="bad" isLive title="The config file is invalid: the previous rules still apply">
          <p>
            <VisibleText text={config.problem} />
          </p>
        </Note>
      )}
      {config !== undefined && config.restart.length > 0 && (
        <Note tone="warn" title="The config file has changes that are not applied yet">
          <p>
            <VisibleText text={`Restart the service to apply the change of ${config.restart.join(', ')}.`} />
          </p>
        </Note>
      )}
      <dl className={styles.facts} aria-label="At a glance">
        <Fact name="Calls, last hour" value={calls.toLocaleString('en')} />
        <Fact name="Failures, last hour" value={failures.toLocaleString('en')} about={shareOf(failures, calls)} />
        <Fact name="Denied, last hour" value={denials.toLocaleString('en')} about="or need an approval" />
        <Fact
          name="Caller errors, last hour"
          value={callerErrors.toLocaleString('en')}
          about="such as wrong arguments"
        />
        <Fact name="In flight" value={inFlight.toLocaleString('en')} about="running calls" />
        <Fact
          name="Waiting"
          value={waiting.toLocaleString('en')}
          about={waiting > 0 ? <Link to="/approvals">Answer them</Link> : 'for an answer'}
        />
        <Fact name="Memory" value={formatBytes(memoryBytes)} about="of the process" />
        <Fact name="Uptime" value={formatDuration(uptimeMs)} about={`since ${formatDate(startedAt)}`} />
        <Fact
          name="Store"
          value={store.ok ? <Badge tone="ok">works</Badge> : <Badge tone="bad">fails</Badge>}
          about={disk && formatBytes(disk.storeBytes)}
        />
        {disk && (
          <Fact
            name="Records"
            value={disk.recordsBytes === undefined ? '…' : formatBytes(disk.recordsBytes)}
            about="of all runs on disk"
          />
        )}
        {disk?.disks.filter(isOnOwnDisk).map(({ folder, freeBytes, sizeBytes }, _, shown) => (
          <Fact
            key={folder}
            name={shown.length === 1 ? 'Disk' : `Disk of the ${folder === 'runs' ? 'records' : 'store'}`}
            value={formatBytes(freeBytes)}
            about={
              freeBytes < sizeBytes * LOW_PART ? (
                <Badge tone="warn">nearly full</Badge>
              ) : (
                `free of ${formatBytes(sizeBytes)}`
              )
            }
          />
        ))}
      </dl>
    </>
  )
}

/** Store and records usually share a disk, which is shown once. */
function isOnOwnDisk({ folder, sizeBytes }: Disk, _: number, disks: readonly Disk[]): boolean {
  return folder === 'runs' || !disks.some((other) => other.folder === 'runs' && other.sizeBytes === sizeBytes)
}

function Fact({ name, value, about }: { name: string; value: ReactNode; about?: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>
        <div className={styles.value}>{value}</div>
        {about !== undefined && <div className={styles.about}>{about}</div>}
      </dd>
    </div>
  )
}

function shareOf(part: number, whole: number): string {
  if (whole === 0) return 'no calls'
  const percent = (part / whole) * 100
  return `${percent > 0 && percent < 1 ? '< 1' : Math.round(percent)} % of calls`
}
