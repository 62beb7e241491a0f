import { SearchX } from 'lucide-react'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { Link } from '../../router/link.tsx'

/** No page has this address. */
export function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState icon={SearchX} title="There is no page at this address">
        It may have been mistyped or cut off. See what happens <Link to="/live">now</Link>, or look through the{' '}
        <Link to="/runs">runs</Link>.
      </EmptyState>
    </Page>
  )
}
