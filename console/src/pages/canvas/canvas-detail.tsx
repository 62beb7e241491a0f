import { EyeOff } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { CanvasDetail as Detail } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { showFailure } from '../../components/show-failure.ts'
import { SplitDetail } from '../../components/split-view.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import { Link } from '../../router/link.tsx'
import styles from './canvas.module.css'
import { CanvasForm } from './canvas-form.tsx'
import { canvasPath } from './canvas-path.ts'
import { CanvasView } from './canvas-view.tsx'
import { useCanvas } from './use-canvases.ts'

/** One canvas, large: who shows it, and what it is. */
export function CanvasDetail({ id }: { id: string }) {
  const query = useCanvas(id)
  return (
    <SplitDetail label="Canvas" backTo={canvasPath()} backWords="All canvases">
      <Loaded query={query}>
        {(canvas) => (
          <>
            <Heading canvas={canvas} />
            {canvas.kind === 'form' ? <CanvasForm canvas={canvas} /> : <CanvasView canvas={canvas} />}
          </>
        )}
      </Loaded>
    </SplitDetail>
  )
}

function Heading({ canvas }: { canvas: Detail }) {
  const { title, tainted, hidden, caller, principal, updatedAt, run, latest } = canvas
  return (
    <header className={styles.heading}>
      <div className={styles.words}>
        <h2>
          <VisibleText text={title} />
        </h2>
        <p className={styles.who}>
          <VisibleText text={principal ?? caller} />, <Time at={updatedAt} />, in{' '}
          <Link to={runPath(run, latest.callId)}>
            <VisibleText text={run} />
          </Link>
        </p>
      </div>
      {tainted && (
        <span title="Its run has read content from outside: this may not be the agent’s own work.">
          <Badge tone="warn">untrusted</Badge>
        </span>
      )}
      {hidden && <Badge>hidden</Badge>}
      {!hidden && <HideButton id={canvas.id} />}
    </header>
  )
}

function HideButton({ id }: { id: string }) {
  const me = useMe()
  const [isBusy, setBusy] = useState(false)
  const calm = useCalm(id)
  if (!me.may('approve') && !me.may('admin')) return null
  const hide = async () => {
    setBusy(true)
    try {
      await api.canvases.hide(id)
      refreshQueries('canvases')
    } catch (error) {
      showFailure('Not hidden', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button icon={EyeOff} isBusy={isBusy} calm={calm} onClick={hide}>
      Hide
    </Button>
  )
}
