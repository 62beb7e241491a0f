import { LastDone } from '../../components/last-done.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { SplitView } from '../../components/split-view.tsx'
import { useChosen } from '../../components/use-chosen.ts'
import { useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { useValue } from '../../state/create-value.ts'
import { pathOf } from './ask.ts'
import { AskDetail } from './ask-detail.tsx'
import { AskList } from './ask-list.tsx'
import { AskTabs } from './ask-tabs.tsx'
import { DenySeveral } from './deny-several.tsx'
import { InboxEmpty } from './inbox-empty.tsx'
import { lastAnswer } from './last-answer.ts'
import { NotifyButton } from './notify-button.tsx'
import { useAsks } from './use-asks.ts'

/** What waits for a person: calls that need a yes, and questions of tools. */
export default function ApprovalsPage({ params: { id } }: PageProps) {
  const [tab] = useSearchParam('tab')
  const query = useAsks(tab === 'past' ? 'past' : 'waiting')
  const last = useValue(lastAnswer)
  const asks = query.data
  const { goOn } = useChosen({ list: asks, id, pathOf: (each) => pathOf(each, tab), leaves: tab !== 'past' })
  return (
    <Page
      title="Approvals"
      fill
      actions={
        <>
          {tab !== 'past' && <DenySeveral asks={asks ?? []} />}
          <NotifyButton />
        </>
      }
    >
      <SplitView
        side={
          <>
            <AskTabs tab={tab} />
            <Loaded query={query}>
              {(all) => (all.length === 0 ? <InboxEmpty tab={tab} /> : <AskList asks={all} selected={id} tab={tab} />)}
            </Loaded>
            <LastDone done={last} />
          </>
        }
        detail={
          id !== undefined && (
            <AskDetail
              key={id}
              id={id}
              known={asks?.find((ask) => ask.id === id)}
              backTo={pathOf(undefined, tab)}
              onDone={goOn}
            />
          )
        }
      />
    </Page>
  )
}
