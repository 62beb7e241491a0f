import { RadioTower } from 'lucide-react'
import { Badge } from '../../components/badge.tsx'
import { Duration } from '../../components/duration.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { Changes } from './changes.tsx'
import { RunActions } from './run-actions.tsx'
import styles from './run-page.module.css'
import { Timeline } from './timeline.tsx'
import { type LiveRun, useRun } from './use-run.ts'
import { WaitingNotes } from './waiting-notes.tsx'

/** One run: its calls on a time axis, what they changed, its record. */
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
      <span>
        {run.calls.toLocaleString('en')} {run.calls === 1 ? 'call' : 'calls'} by <VisibleText text={run.caller} />
      </span>
      <span>
        began <Time at={run.startedAt} />
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
