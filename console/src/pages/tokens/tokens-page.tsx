import { useMe } from '../../api/use-me.ts'
import { Note } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { TokensView } from '../audit/tokens-view.tsx'

/** The tokens that agents and people sign in with. */
export default function TokensPage() {
  const isAdmin = useMe().may('admin')
  return (
    <Page title="Tokens" description="What agents and people sign in with, and what each may do." fill>
      {isAdmin ? <TokensView /> : <Note tone="info" title="Only those with the scope admin see and change tokens." />}
    </Page>
  )
}
