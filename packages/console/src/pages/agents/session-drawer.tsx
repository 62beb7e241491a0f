import { ArrowRight, Mail, Send, Square } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { refreshResources } from '../../api/query-client.ts'
import { api, useMe } from '../../api/session.ts'
import type { AgentHistory, AgentStatus, AgentHistory as History } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { useAction, useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Badge, StatusBadge } from '../../components/badge.tsx'
import { Button, CopyButton } from '../../components/button.tsx'
import { DetailPart, Facts } from '../../components/details.tsx'
import { ConfirmButton, Drawer } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { Loaded } from '../../components/resource.tsx'
import { Code, VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import styles from './agents.module.css'
import { describeBudget } from './describe.ts'
import { SessionLinks, SessionState, sessionPath } from './sessions.tsx'

interface AgentDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** A session: its task, its history, and ways to write to it and to end it. */
export function SessionDrawer({ id, onClose }: AgentDrawerProps) {
  const isAdmin = useMe().may('admin')
  const query = useResource(['agents', 'one', id], () => api.agents.get(id), {
    refreshOn: ['call'],
    feature: 'sessions',
    run: id,
  })
  const session = query.data?.session
  const isRunning = session?.state === 'running'
  const end = async () => {
    const { ended } = await api.agents.end(id)
    refreshResources('agents')
    if (!ended) showToast({ tone: 'info', title: 'It had already ended' })
  }
  return (
    <Drawer
      isOpen
      onClose={onClose}
      isWide
      keepsShortcuts
      title={<VisibleText text={session?.label ?? id} />}
      footer={
        isAdmin && isRunning ? (
          <ConfirmButton
            label="End session"
            variant="danger"
            icon={Square}
            title="End this session?"
            failure="Not ended"
            onConfirm={end}
          >
            <p>
              <strong>
                <VisibleText text={session.label ?? id} />
              </strong>{' '}
              and all sessions that it started stop immediately. What they have done stays; they cannot continue.
            </p>
          </ConfirmButton>
        ) : undefined
      }
    >
      <Loaded query={query}>{(status) => <Details status={status} mayWrite={isAdmin} />}</Loaded>
    </Drawer>
  )
}

function Details({ status, mayWrite }: { status: AgentStatus; mayWrite: boolean }) {
  const { session, children } = status
  const { id, task, result, reason } = session
  return (
    <>
      <SessionFacts status={status} />
      {reason !== undefined && (
        <Note tone={session.state === 'failed' ? 'bad' : 'info'} title={<VisibleText text={reason} />} />
      )}
      {task !== undefined && (
        <DetailPart title="Task">
          <Code text={task} label="Task" />
        </DetailPart>
      )}
      {result !== undefined && (
        <DetailPart title="Result">
          <Code text={result} label="Result" />
        </DetailPart>
      )}
      {children.length > 0 && (
        <DetailPart title={`Sessions it started (${children.length})`}>
          <SessionLinks agents={children} label="Sessions it started" />
        </DetailPart>
      )}
      <DetailPart title="History">
        <SessionHistory id={id} />
      </DetailPart>
      {mayWrite && session.state === 'running' && <MessageForm id={id} />}
    </>
  )
}

/** The state of a session, its owner, and its budget. */
function SessionFacts({ status }: { status: AgentStatus }) {
  const { session, budget, unread } = status
  const { id, state, parent, runner, principal, createdAt, endedAt, isTainted } = session
  return (
    <>
      <div className={styles.head}>
        <SessionState state={state} />
        {isTainted && <Badge tone="warn">untrusted</Badge>}
        <Link to={runPath(id)} className={styles.run}>
          Show as a run <ArrowRight size={13} aria-hidden="true" />
        </Link>
      </div>
      <Facts
        facts={[
          ['Started', <Time key="started" at={createdAt} />],
          ['Ended', endedAt && <Time key="ended" at={endedAt} />],
          ['Runner', runner && <VisibleText key="runner" text={runner} />],
          ['For', <VisibleText key="for" text={principal ?? 'owner'} />],
          ['Started by', parent && <AgentLink key="parent" id={parent} />],
          ['Budget', budget && describeBudget(budget)],
          ['Unread', unread > 0 && `${unread.toLocaleString('en')} ${unread === 1 ? 'message' : 'messages'}`],
          [
            'Session',
            <span key="session" className={styles.id}>
              <code>
                <VisibleText text={id} />
              </code>{' '}
              <CopyButton text={id} label="Copy the id of the session" />
            </span>,
          ],
        ]}
      />
    </>
  )
}

function AgentLink({ id }: { id: string }) {
  return (
    <Link to={sessionPath(id)}>
      <VisibleText text={id} />
    </Link>
  )
}

type Entry = History['entries'][number]

const PAGE = 30

/** The history of a session, oldest first: its calls and messages. */
function SessionHistory({ id }: { id: string }) {
  const { query, items, hasMore, loadMore } = usePages(
    ['agents', 'history', id],
    async (before?: string) => {
      const { entries, earlier } = await api.agents.history(id, { before, limit: PAGE })
      return { items: entries.map((entry) => ({ id: idOf(entry), entry })), next: earlier }
    },
    {
      what: 'entries',
      compare: oldestFirst,
      keepsGone: true,
      refreshOn: ['call'],
      feature: 'sessions',
      run: id,
    },
  )
  return (
    <Loaded query={query}>
      {() => (
        <>
          {hasMore && (
            <Button variant="quiet" size="small" onClick={loadMore}>
              Show earlier entries
            </Button>
          )}
          {items.length === 0 && <p className={styles.muted}>Nothing has happened yet.</p>}
          <ol className={styles.list} aria-label="History">
            {items.map(({ id: key, entry }) => (
              <HistoryEntry key={key} entry={entry} session={id} />
            ))}
          </ol>
        </>
      )}
    </Loaded>
  )
}

function idOf(entry: Entry): string {
  return entry.type === 'call' ? `call ${entry.callId}` : `message ${entry.message.id}`
}

function oldestFirst(a: { entry: Entry }, b: { entry: Entry }): number {
  return Date.parse(a.entry.at) - Date.parse(b.entry.at)
}

/** A call of a session, or a message to or from it. */
function HistoryEntry({ entry, session }: { entry: AgentHistory['entries'][number]; session: string }) {
  if (entry.type === 'call') {
    return (
      <li className={styles.entry}>
        <StatusBadge status={entry.status} />
        <Link to={runPath(session, entry.callId)}>
          <VisibleText text={entry.tool} />
        </Link>
        {entry.isUntrusted && <Badge tone="warn">untrusted</Badge>}
        <span className={styles.when}>
          <Time at={entry.at} />
        </span>
        <span className={styles.summary}>
          <VisibleText text={entry.summary} />
        </span>
      </li>
    )
  }
  const { from, to, text, isUntrusted } = entry.message
  return (
    <li className={styles.entry}>
      <Badge tone="info" icon={Mail}>
        message
      </Badge>
      <span>
        {to === session ? 'from ' : 'to '}
        <VisibleText text={to === session ? from : to} />
      </span>
      {isUntrusted && <Badge tone="warn">untrusted</Badge>}
      <span className={styles.when}>
        <Time at={entry.at} />
      </span>
      <span className={styles.text}>
        <VisibleText text={text} />
      </span>
    </li>
  )
}

const MAX_CHARS = 20_000

/** Sends a message to a session, which reads it when it checks for messages. */
function MessageForm({ id }: { id: string }) {
  const [text, setText] = useState('')
  const send = useAction(
    async () => {
      await api.agents.send(id, text)
      setText('')
    },
    { failure: 'Not sent', refreshes: ['agents'] },
  )
  const submit = () => {
    if (text.trim() !== '') void send.run()
  }
  return (
    <form
      className={styles.message}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Field
        label="Message to the session"
        description="The session gets it when it next checks for messages. Ctrl+Enter sends."
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            maxLength={MAX_CHARS}
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
            }}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" icon={Send} isBusy={send.isBusy} disabled={text.trim() === ''}>
        Send
      </Button>
    </form>
  )
}
