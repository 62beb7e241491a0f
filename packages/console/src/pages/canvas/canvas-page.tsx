import { ChartColumn, FileCode, FileText, FormInput, type LucideIcon, Presentation, Workflow } from 'lucide-react'
import type { CanvasEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { ResourceSplit } from '../../components/resource.tsx'
import { SplitList, SplitRow, useSelection } from '../../components/split-view.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import type { PageProps } from '../../router/routes.tsx'
import styles from './canvas.module.css'
import { CanvasPanel } from './canvas-detail.tsx'
import { canvasPath, useCanvases } from './canvases.ts'

/** What agents show to people: pages, text, diagrams, charts and forms. */
export default function CanvasPage({ params: { id } }: PageProps) {
  const { query, items: canvases, hasMore, loadMore } = useCanvases()
  const shown = canvases.filter((canvas) => !canvas.hidden)
  useSelection({ list: shown, id, pathOf: canvasPath, leaves: false })
  return (
    <Page title="Canvas" fill>
      <ResourceSplit
        query={query}
        list={() => <CanvasList canvases={canvases} selected={id} hasMore={hasMore} loadMore={loadMore} />}
        detail={id !== undefined && <CanvasPanel key={id} id={id} />}
      />
    </Page>
  )
}

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

/** The list of canvases, newest first; hidden ones are collapsed. */
function CanvasList({ canvases, selected, hasMore, loadMore }: CanvasListProps) {
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
