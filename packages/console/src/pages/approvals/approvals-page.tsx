import {
  Bell,
  BellOff,
  BellRing,
  FileCode,
  FilePen,
  Globe,
  History,
  Inbox,
  type LucideIcon,
  MessageCircleQuestionMark,
  ShieldQuestionMark,
  Terminal,
} from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { ResourceSplit } from '../../components/resource.tsx'
import { LastDone, SplitList, SplitRow, useSelection } from '../../components/split-view.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { showFailure } from '../../components/toast.tsx'
import { useValue } from '../../lib/watched-value.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { notifyState, turnOff, turnOn } from '../../shell/notifications.ts'
import styles from './approvals.module.css'
import { DenySeveral } from './deny-dialog.tsx'
import {
  findItem,
  type HumanRequest,
  previewOf,
  type RequestItem,
  requestPath,
  type ScriptApproval,
  scriptOfItem,
  toItems,
} from './human-request.ts'
import { RequestDetail } from './request-detail.tsx'
import { Deadline, RequestState } from './request-parts.tsx'
import { RiskBadges } from './risk-badges.tsx'
import { ScriptDetail } from './script-detail.tsx'
import { countCalls } from './several-calls.tsx'
import { lastAnswer } from './use-answer.ts'
import { useRequests } from './use-requests.ts'

/** What waits for a person: calls that need an approval, and questions from tools. */
export default function ApprovalsPage({ params: { id } }: PageProps) {
  const [tab] = useSearchParam('tab')
  const query = useRequests(tab === 'past' ? 'past' : 'waiting')
  const last = useValue(lastAnswer)
  const requests = query.data
  const items = useMemo(() => requests && itemsOf(requests, tab), [requests, tab])
  // The address of a call of a script leads to the script.
  const selected = findItem(items ?? [], id)?.id ?? id
  const isElsewhere = id !== undefined && selected !== undefined && id !== selected
  useEffect(() => {
    if (isElsewhere) navigate(requestPath(selected, tab), { replace: true })
  }, [isElsewhere, selected, tab])
  const { selectNext } = useSelection({
    list: items,
    id: selected,
    pathOf: (each) => requestPath(each, tab),
    leaves: tab !== 'past',
  })
  return (
    <Page
      title="Approvals"
      fill
      actions={
        <>
          {tab !== 'past' && <DenySeveral requests={requests ?? []} />}
          <NotifyButton />
        </>
      }
    >
      <ResourceSplit
        query={query}
        above={<RequestTabs tab={tab} />}
        list={(all) =>
          all.length === 0 ? (
            <NoRequests tab={tab} />
          ) : (
            <RequestList items={itemsOf(all, tab)} selected={selected} tab={tab} />
          )
        }
        below={<LastDone done={last} />}
        detail={
          selected !== undefined &&
          (scriptOfItem(selected) === undefined ? (
            <RequestDetail
              key={selected}
              id={selected}
              known={requests?.find((request) => request.id === selected)}
              backTo={requestPath(undefined, tab)}
              onDone={selectNext}
            />
          ) : (
            <ScriptDetail
              key={selected}
              script={scriptOfItem(selected) ?? ''}
              request={isElsewhere ? id : undefined}
              backTo={requestPath(undefined, tab)}
              onDone={selectNext}
            />
          ))
        }
      />
    </Page>
  )
}

/** Answered calls of a script are separate items, since each has its own answer. */
function itemsOf(requests: readonly HumanRequest[], tab: string): RequestItem[] {
  if (tab === 'past') return requests.map((request) => ({ kind: 'request', id: request.id, request }))
  return toItems(requests)
}

const TABS = [
  ['', 'Waiting'],
  ['past', 'Answered'],
] as const

/** The tabs of pending and past requests. */
function RequestTabs({ tab }: { tab: string }) {
  return (
    <nav className={styles.tabs} aria-label="Which approvals">
      {TABS.map(([id, title]) => (
        <Link
          key={id}
          to={requestPath(undefined, id)}
          className={styles.tab}
          aria-current={id === tab ? 'page' : undefined}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}

/** The list of requests. */
function RequestList({
  items,
  selected,
  tab,
}: {
  items: readonly RequestItem[]
  selected: string | undefined
  tab: string
}) {
  return (
    <SplitList label={tab === '' ? 'Waiting' : 'Answered'} selected={selected}>
      {items.map((item) =>
        item.kind === 'script' ? (
          <ScriptRow key={item.id} item={item} isSelected={item.id === selected} tab={tab} />
        ) : (
          <RequestRow key={item.id} request={item.request} isSelected={item.id === selected} tab={tab} />
        ),
      )}
    </SplitList>
  )
}

const MAX_PREVIEW = 200

/** A request in the list: tool, preview, caller, time and deadline. */
function RequestRow({ request, isSelected, tab }: { request: HumanRequest; isSelected: boolean; tab: string }) {
  const isUntrusted = request.kind === 'approval' && request.labels.includes('untrusted')
  const risks = request.kind === 'approval' && request.state === 'waiting' ? (request.risks ?? []) : []
  return (
    <SplitRow
      to={requestPath(request.id, tab)}
      isSelected={isSelected}
      icon={iconOf(request)}
      title={<VisibleText text={request.tool} />}
      side={request.state === 'waiting' ? <Deadline at={request.expiresAt} /> : <RequestState request={request} />}
      preview={<VisibleText text={previewOf(request).slice(0, MAX_PREVIEW)} />}
      meta={
        <>
          <span className={styles.caller}>
            <VisibleText text={request.caller} />
          </span>
          <Time at={request.answered?.at ?? request.askedAt} />
          <RiskBadges risks={risks} />
          {isUntrusted && <Badge tone="warn">untrusted</Badge>}
          {request.isRevoked && <Badge tone="warn">token revoked</Badge>}
          {!request.mayAnswer && request.state === 'waiting' && <Badge>you cannot answer</Badge>}
        </>
      }
    />
  )
}

interface ScriptRowProps {
  readonly item: Extract<RequestItem, { kind: 'script' }>
  readonly isSelected: boolean
  readonly tab: string
}

/** The pending calls of a script in the list; the deadline is that of the first one. */
function ScriptRow({ item: { id, requests }, isSelected, tab }: ScriptRowProps) {
  const [first] = requests as readonly [ScriptApproval, ...ScriptApproval[]]
  const risks = new Set(requests.flatMap(({ risks: own = [] }) => own))
  const preview = requests.map((request) => `${request.tool} ${previewOf(request)}`).join(' · ')
  return (
    <SplitRow
      to={requestPath(id, tab)}
      isSelected={isSelected}
      icon={FileCode}
      title={`Script: ${countCalls(requests.length)}`}
      side={<Deadline at={first.expiresAt} />}
      preview={<VisibleText text={preview.slice(0, MAX_PREVIEW)} />}
      meta={
        <>
          <span className={styles.caller}>
            <VisibleText text={first.caller} />
          </span>
          <Time at={first.askedAt} />
          <RiskBadges risks={[...risks]} />
          {requests.some(({ labels }) => labels.includes('untrusted')) && <Badge tone="warn">untrusted</Badge>}
          {requests.some(({ isRevoked }) => isRevoked) && <Badge tone="warn">token revoked</Badge>}
          {requests.every(({ mayAnswer }) => !mayAnswer) && <Badge>you cannot answer</Badge>}
        </>
      }
    />
  )
}

function iconOf(request: HumanRequest): LucideIcon {
  if (request.kind === 'question') return MessageCircleQuestionMark
  const kind = request.views[0]?.kind
  if (kind === 'command') return Terminal
  if (kind === 'diff') return FilePen
  return kind === 'url' ? Globe : ShieldQuestionMark
}

/** Shown if there are no requests. */
function NoRequests({ tab }: { tab: string }) {
  if (tab === 'past') {
    return (
      <EmptyState icon={History} title="No answers yet">
        Answers are kept here for a while; the <Link to="/audit">audit</Link> has all of them.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={Inbox} title="Nothing is waiting for you">
      Calls that require approval, and questions from tools, appear here. Leave the page open: its tab shows how many
      there are. The <Link to="/policy">policy</Link> decides which calls require approval.
    </EmptyState>
  )
}

/** Turns desktop notifications on or off. The browser requests for permission at the first click, never before. */
function NotifyButton() {
  const state = useValue(notifyState)
  if (state === 'impossible') return null
  if (state === 'refused') {
    return (
      <span className={styles.refused}>
        <BellOff size={14} aria-hidden="true" /> Notifications are blocked for this site in the settings of the browser
      </span>
    )
  }
  const isOn = state === 'on'
  const press = () => (isOn ? turnOff() : turnOn().catch((error) => showFailure('Not turned on', error)))
  return (
    <Button icon={isOn ? BellRing : Bell} aria-pressed={isOn} onClick={press}>
      {isOn ? 'Notifications on' : 'Notify me'}
    </Button>
  )
}
