import { useEffect, useRef } from 'react'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { useMediaQuery } from '../../state/use-media-query.ts'
import styles from './approvals-page.module.css'
import { neighbourOf, pathOf, stepFrom } from './ask.ts'
import { AskDetail } from './ask-detail.tsx'
import { AskList } from './ask-list.tsx'
import { AskTabs } from './ask-tabs.tsx'
import { InboxEmpty } from './inbox-empty.tsx'
import { LastAnswer } from './last-answer.tsx'
import { NotifyButton } from './notify-button.tsx'
import { useAsks } from './use-asks.ts'

/** What waits for a person: calls that need a yes, and questions of tools. */
export default function ApprovalsPage({ params: { id } }: PageProps) {
  const [tab] = useSearchParam('tab')
  const query = useAsks(tab === 'past' ? 'past' : 'waiting')
  const asks = query.data
  // The width at which the CSS has no room for list and detail beside each other.
  const isNarrow = useMediaQuery('(max-width: 900px)')

  // The address pins what is shown: one that comes meanwhile never takes its place under somebody's finger.
  // What was answered here is among the waiting for a moment longer, and is not to be shown again.
  const answered = useRef<string>(undefined)
  const first = asks?.find((ask) => tab === 'past' || ask.id !== answered.current)?.id
  useEffect(() => {
    if (!isNarrow && id === undefined && first !== undefined) navigate(pathOf(first, tab), { replace: true })
  }, [isNarrow, id, first, tab])

  const step = (by: number) => {
    const next = stepFrom(asks ?? [], id, by)
    if (next !== undefined) navigate(pathOf(next, tab), { replace: id !== undefined })
  }
  useShortcut('j', 'Next', () => step(1))
  useShortcut('k', 'Previous', () => step(-1))
  const goOn = () => {
    answered.current = id
    navigate(pathOf(isNarrow ? undefined : neighbourOf(asks ?? [], id ?? ''), tab), { replace: true })
  }

  return (
    <Page title="Approvals" fill actions={<NotifyButton />}>
      <div className={styles.inbox} data-opened={id !== undefined || undefined}>
        <div className={styles.side}>
          <AskTabs tab={tab} />
          <Loaded query={query}>
            {(all) => (all.length === 0 ? <InboxEmpty tab={tab} /> : <AskList asks={all} selected={id} tab={tab} />)}
          </Loaded>
          <LastAnswer />
        </div>
        {id !== undefined && (
          <AskDetail
            key={id}
            id={id}
            known={asks?.find((ask) => ask.id === id)}
            backTo={pathOf(undefined, tab)}
            onDone={goOn}
          />
        )}
      </div>
    </Page>
  )
}
