import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { NotesView } from './notes-view.tsx'
import { ReviewView } from './review-view.tsx'

/** What agents want to remember, for somebody to look at first, and what they remember. */
export default function MemoryPage({ params: { id } }: PageProps) {
  const [view, setView] = useSearchParam('view', 'review')
  return (
    <Page title="Memory" fill>
      <Tabs
        label="Views of memory"
        fill
        selected={view}
        onSelect={setView}
        tabs={[
          // Not while it is on its way out: it would open the first one, and so itself again.
          { id: 'review', title: 'To review', content: view === 'review' && <ReviewView id={id} /> },
          { id: 'notes', title: 'Notes', content: <NotesView /> },
        ]}
      />
    </Page>
  )
}
