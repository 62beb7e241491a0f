import { Download, Hourglass, RadioTower, ShieldCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { refreshResources } from '../../api/query-client.ts'
import { api, useMe } from '../../api/session.ts'
import type { AuditReport } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { useWaiting } from '../../calls/waiting.ts'
import { Badge } from '../../components/badge.tsx'
import buttonStyles from '../../components/button.module.css'
import { Button } from '../../components/button.tsx'
import { ConfirmButton, Dialog } from '../../components/dialog.tsx'
import { Note } from '../../components/note.tsx'
import { Page, Tabs } from '../../components/page.tsx'
import { Loaded } from '../../components/resource.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration, Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import { classNames } from '../../lib/class-names.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { Changes } from './changes.tsx'
import { RunLaterNote } from './run-later-note.tsx'
import styles from './runs.module.css'
import { TaintNotes } from './taint-notes.tsx'
import { Timeline } from './timeline.tsx'
import { type LiveRun, useRun } from './use-run.ts'

/** A run: its calls on a time axis, its changes, and its record. */
export default function RunPage({ params: { run = '', call } }: PageProps) {
  const query = useRun(run)
  const [tab, setTab] = useSearchParam('tab', 'timeline')
  return (
    <Page
      title={`Run ${run}`}
      description={query.data && <Summary run={query.data} />}
      actions={<RunActions run={run} />}
      fill
    >
      <WaitingNotes run={run} />
      {query.data && <TaintNotes run={run} principal={query.data.run.principal} />}
      {query.data && <RunLaterNote run={run} />}
      <Loaded query={query}>
        {(data) => (
          <Tabs
            label="Views of the run"
            selected={tab}
            onSelect={setTab}
            fill
            tabs={[
              { id: 'timeline', title: 'Timeline', content: <Timeline key={run} run={data} call={call} /> },
              { id: 'changes', title: 'Changes', content: <Changes key={run} run={run} /> },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

function Summary({ run: { run, calls, isTruncated } }: { run: LiveRun }) {
  const isRunning = calls.some(({ status }) => status === 'running')
  return (
    <span className={styles.summary}>
      {isRunning && (
        <Badge tone="info" icon={RadioTower}>
          running
        </Badge>
      )}
      {run.failures > 0 && <Badge tone="bad">{run.failures.toLocaleString('en')} failed</Badge>}
      {run.denials > 0 && <Badge tone="warn">{run.denials.toLocaleString('en')} denied</Badge>}
      <span>
        {run.calls.toLocaleString('en')} {run.calls === 1 ? 'call' : 'calls'}
        {run.caller !== '' && (
          <>
            {' '}
            by <VisibleText text={run.caller} />
          </>
        )}
      </span>
      <span>
        started <Time at={run.startedAt} />
      </span>
      {!isRunning && (
        <span>
          took <Duration ms={run.endedAt - run.startedAt} />
        </span>
      )}
      {isTruncated && <Badge tone="warn">only the latest {calls.length.toLocaleString('en')} are shown</Badge>}
    </span>
  )
}

/** The actions of a run: verify, export and remove its record. */
function RunActions({ run }: { run: string }) {
  const isAdmin = useMe().may('admin')
  const [isVerifying, setVerifying] = useState(false)
  useShortcut('v', 'Verify the record', () => setVerifying(true))
  return (
    <>
      <Button icon={ShieldCheck} shortcut="v" onClick={() => setVerifying(true)}>
        Verify
      </Button>
      <a
        className={classNames(buttonStyles.button, buttonStyles.secondary, buttonStyles.normal, styles.link)}
        href={`/v1/runs/${encodeURIComponent(run)}/export`}
        download={`${run}.jsonl`}
        title="The record as stored on disk, as JSON lines"
      >
        <Download size={15} aria-hidden="true" /> Export
      </a>
      {isAdmin && <RemoveRun run={run} />}
      {isVerifying && <VerifyDialog run={run} onClose={() => setVerifying(false)} />}
    </>
  )
}

/** Removes a run that has ended, after a confirmation. */
function RemoveRun({ run }: { run: string }) {
  const remove = async () => {
    await api.runs.remove(run)
    navigate('/runs')
    refreshResources('runs')
    showToast({ tone: 'ok', title: `Run ${run} was removed` })
  }
  return (
    <ConfirmButton label="Remove" icon={Trash2} title="Remove this run?" failure="Not removed" onConfirm={remove}>
      <p>
        The folder of{' '}
        <strong>
          <VisibleText text={run} />
        </strong>{' '}
        is deleted: its record, its artifacts, its workspace, and what undo needs. Export the record first if you want
        to keep a copy.
      </p>
      <p>
        The removal is recorded with your name and the last hash of the run, so a copy can be proven to be the one that
        was removed.
      </p>
    </ConfirmButton>
  )
}

type Checked = AuditReport['runs'][number]

/** Verifies the record of a run when it is opened, and shows the result. */
function VerifyDialog({ run, onClose }: { run: string; onClose: () => void }) {
  // Part of the key, so that the dialog never shows an earlier result.
  const [openedAt] = useState(() => Date.now())
  const query = useResource(['audit', run, openedAt], () => api.audit.verify({ run }))
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Verify the record"
      description="Every line contains the hash of the previous one, so a changed, removed or added line breaks the chain."
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <Loaded query={query}>
        {({ runs }) => runs.map((checked) => <Outcome key={checked.run} checked={checked} />)}
      </Loaded>
    </Dialog>
  )
}

const OUTCOMES = {
  intact: { tone: 'ok', title: 'The record is intact' },
  open: { tone: 'ok', title: 'The record is intact so far, and the run is open' },
  moved: {
    tone: 'ok',
    title: 'The record is intact as far as this machine has it; another process has continued the run',
  },
  unproven: { tone: 'warn', title: 'The end of the record is not proven' },
  broken: { tone: 'bad', title: 'The record is damaged' },
} as const

function Outcome({ checked: { state, lines, calls, interrupted, problems, remarks } }: { checked: Checked }) {
  const size = `${lines.toLocaleString('en')} lines, ${calls.toLocaleString('en')} calls`
  return (
    <>
      <Note isLive tone={OUTCOMES[state].tone} title={`${OUTCOMES[state].title}: ${size}`}>
        {interrupted > 0 && (
          <p>{interrupted.toLocaleString('en')} calls were interrupted; what they did is not known.</p>
        )}
        {state === 'broken' && (
          <p>Export it and compare it with a backup; do not rely on it until it is clear what happened.</p>
        )}
      </Note>
      <Findings title="Problems" findings={problems} />
      <Findings title="Remarks" findings={remarks} />
    </>
  )
}

function Findings({ title, findings }: { title: string; findings: Checked['problems'] }) {
  if (findings.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul className={styles.findings}>
        {findings.map(({ message, seq }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
          <li key={index}>
            {seq !== undefined && <code>line {seq}: </code>}
            <VisibleText text={message} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const MAX_NOTES = 3

/** The pending approvals of a run; their calls are recorded only after an answer. */
function WaitingNotes({ run }: { run: string }) {
  const waiting = useWaiting().filter((approval) => approval.run === run && approval.state === 'waiting')
  if (waiting.length === 0) return null
  return (
    <>
      {waiting.slice(0, MAX_NOTES).map(({ id, tool, reason, expiresAt }) => (
        <Note
          key={id}
          tone="warn"
          icon={Hourglass}
          title={
            <>
              <VisibleText text={tool} /> is waiting for approval; the request expires <Time at={expiresAt} />
            </>
          }
        >
          <p>
            <VisibleText text={reason} /> <Link to={`/approvals/${encodeURIComponent(id)}`}>Review it</Link>
          </p>
        </Note>
      ))}
      {waiting.length > MAX_NOTES && (
        <p>
          <Link to="/approvals">{waiting.length - MAX_NOTES} more</Link>
        </p>
      )}
    </>
  )
}
