import { ChartColumn, FileCode, FileText, FormInput, type LucideIcon, Presentation, Workflow } from 'lucide-react'
import type { CanvasEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { SplitList, SplitRow } from '../../components/split-list.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './canvas.module.css'
import { canvasPath } from './canvas-path.ts'

interface CanvasListProps {
  readonly canvases: readonly CanvasEntry[]
  readonly selected: string | undefined
  readonly hasMore: boolean
  readonly loadMore: () => void
}

const ICONS: Record<CanvasEntry['kind'], LucideIcon> = {
  html: FileCode,
  markdown: FileText,
  mermaid: Workflow,
  'vega-lite': ChartColumn,
  form: FormInput,
}

/** The canvases to choose from, newest first; hidden ones are folded away. */
export function CanvasList({ canvases, selected, hasMore, loadMore }: CanvasListProps) {
  const shown = canvases.filter(({ hidden }) => !hidden)
  const hidden = canvases.filter((canvas) => canvas.hidden)
  const rows = (list: readonly CanvasEntry[]) =>
    list.map((canvas) => <Row key={canvas.id} canvas={canvas} isSelected={canvas.id === selected} />)
  return (
    <div className={styles.lists}>
      {shown.length === 0 && (
        <EmptyState icon={Presentation} title="Nothing is shown">
          Agents show pages, diagrams, charts and forms here with the tool <code>core/canvas</code>.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <SplitList label="Canvases" selected={selected}>
          {rows(shown)}
        </SplitList>
      )}
      {hidden.length > 0 && (
        <details className={styles.folded} open={hidden.some(({ id }) => id === selected) || undefined}>
          <summary>Hidden ({hidden.length})</summary>
          <SplitList label="Hidden canvases" selected={selected}>
            {rows(hidden)}
          </SplitList>
        </details>
      )}
      {hasMore && (
        <Button variant="quiet" onClick={loadMore}>
          Show older canvases
        </Button>
      )}
    </div>
  )
}

function Row({ canvas, isSelected }: { canvas: CanvasEntry; isSelected: boolean }) {
  const { id, kind, title, name, caller, updatedAt, tainted, latest } = canvas
  return (
    <SplitRow
      to={canvasPath(id)}
      isSelected={isSelected}
      icon={ICONS[kind]}
      title={<VisibleText text={title} />}
      side={<Time at={updatedAt} />}
      preview={<VisibleText text={`${kind}, ${name}, version ${latest.n}`} />}
      meta={
        <>
          <VisibleText text={caller} />
          {tainted && <Badge tone="warn">untrusted</Badge>}
        </>
      }
    />
  )
}
