import { useEffect } from 'react'
import { ViewsPage } from '../../components/resource.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import { ApprovalsView } from './approvals-view.tsx'
import { CallsView } from './calls-view.tsx'
import { GrantsView } from './grants-view.tsx'
import { VerifyView } from './verify-view.tsx'

/** Verification of the records, recorded calls and approvals, and grants. */
export default function AuditPage() {
  const [view] = useSearchParam('view')
  // The tokens were a view of this page before they had a page of their own.
  useEffect(() => {
    if (view === 'tokens') navigate('/tokens', { replace: true })
  }, [view])
  return (
    <ViewsPage
      title="Audit"
      fill
      label="Views of the audit"
      views={[
        { id: 'verify', title: 'Verify', shortcut: ['v', 'Verify records'], content: <VerifyView /> },
        { id: 'calls', title: 'Calls', shortcut: ['c', 'Search calls'], content: <CallsView /> },
        { id: 'approvals', title: 'Approvals', shortcut: ['p', 'Who approved what'], content: <ApprovalsView /> },
        { id: 'grants', title: 'Grants', shortcut: ['n', 'Grants'], content: <GrantsView /> },
      ]}
    />
  )
}
