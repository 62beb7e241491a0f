import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { SplitView } from '../../components/split-view.tsx'
import { useChosen } from '../../components/use-chosen.ts'
import type { PageProps } from '../../router/routes.tsx'
import { CanvasDetail } from './canvas-detail.tsx'
import { CanvasList } from './canvas-list.tsx'
import { canvasPath } from './canvas-path.ts'
import { useCanvases } from './use-canvases.ts'

/** What agents show to people: pages, texts, diagrams, charts and forms. */
export default function CanvasPage({ params: { id } }: PageProps) {
  const { query, items: canvases, hasMore, loadMore } = useCanvases()
  const shown = canvases.filter((canvas) => !canvas.hidden)
  useChosen({ list: shown, id, pathOf: canvasPath, leaves: false })
  return (
    <Page title="Canvas" fill>
      <SplitView
        side={
          <Loaded query={query}>
            {() => <CanvasList canvases={canvases} selected={id} hasMore={hasMore} loadMore={loadMore} />}
          </Loaded>
        }
        detail={id !== undefined && <CanvasDetail key={id} id={id} />}
      />
    </Page>
  )
}
