import { useEffect } from 'react'
import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import { ApprovalsView } from './approvals-view.tsx'
import { CallsView } from './calls-view.tsx'
import { GrantsView } from './grants-view.tsx'
import { VerifyView } from './verify-view.tsx'

/** Whether the records are what was written, who did and allowed what, and what is allowed on. */
export default function AuditPage() {
  const [view, setView] = useSearchParam('view', 'verify')
  useShortcut('v', 'Verify records', () => setView('verify'))
  useShortcut('c', 'Search calls', () => setView('calls'))
  useShortcut('p', 'Who approved what', () => setView('approvals'))
  useShortcut('n', 'Grants', () => setView('grants'))
  // Where they were before they had a page of their own.
  useEffect(() => {
    if (view === 'tokens') navigate('/tokens', { replace: true })
  }, [view])
  return (
    <Page title="Audit" fill>
      <Tabs
        label="Views of the audit"
        fill
        selected={view}
        onSelect={setView}
        tabs={[
          { id: 'verify', title: 'Verify', content: <VerifyView /> },
          { id: 'calls', title: 'Calls', content: <CallsView /> },
          { id: 'approvals', title: 'Approvals', content: <ApprovalsView /> },
          { id: 'grants', title: 'Grants', content: <GrantsView /> },
        ]}
      />
    </Page>
  )
}
