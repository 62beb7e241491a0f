import { Pointer, TriangleAlert } from 'lucide-react'
import type { ApprovalView } from '../../api/types.ts'
import { EffectBadge } from '../../components/badge.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { Note } from '../../components/note.tsx'
import { Code, VisibleText } from '../../components/text.tsx'
import { classNames } from '../../lib/class-names.ts'
import shared from './approvals.module.css'
import { type HumanRequest, splitUrl } from './human-request.ts'
import { RequestNotices } from './request-notices.tsx'
import { DetailBlock, TextList } from './request-parts.tsx'
import styles from './request-views.module.css'

interface ApprovalFactsProps {
  readonly approval: Extract<HumanRequest, { kind: 'approval' }>
  readonly isOver: boolean
}

/** What a call would do, and why it needs approval. */
export function ApprovalFacts({ approval, isOver }: ApprovalFactsProps) {
  const { purpose, reason, rule, targets, requests, views, input } = approval
  return (
    <>
      <RequestNotices request={approval} isOver={isOver} />
      {purpose !== undefined && (
        <DetailBlock title="Purpose, according to the caller">
          <p className={shared.quote}>
            <VisibleText text={purpose} />
          </p>
        </DetailBlock>
      )}
      <RequestViews views={views} />
      <DetailBlock title="Why it needs approval">
        <p>
          <VisibleText text={reason} />
        </p>
        {!reason.includes(rule) && (
          <code className={shared.quiet}>
            <VisibleText text={rule} />
          </code>
        )}
      </DetailBlock>
      <TextList title="Targets" texts={targets} isCode />
      <TextList title="Requested by skills (informational)" texts={requests} />
      <DetailBlock title="Arguments">
        <JsonView value={input} label="arguments" />
      </DetailBlock>
    </>
  )
}

const TITLES = { command: 'The command', diff: 'What would change', url: 'Where it would go' } as const

/** What the arguments mean: the parts of a command, the diff of an edit, the host of a URL. */
function RequestViews({ views }: { views: readonly ApprovalView[] }) {
  return views.map((view, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same file may come twice, and the order never changes.
    <DetailBlock key={index} title={TITLES[view.kind]}>
      {view.kind === 'command' && <CommandView {...view} />}
      {view.kind === 'diff' && <DiffView {...view} />}
      {view.kind === 'url' && <UrlView {...view} />}
    </DetailBlock>
  ))
}

/** A URL with its host highlighted, and the addresses that the host name resolves to. */
function UrlView({ url, addresses, problem }: Omit<Extract<ApprovalView, { kind: 'url' }>, 'kind'>) {
  const { before, host, after } = splitUrl(url)
  return (
    <div className={styles.urlView}>
      <code className={styles.url}>
        <VisibleText text={before} />
        <strong className={styles.host}>
          <VisibleText text={host} />
        </strong>
        <VisibleText text={after} />
      </code>
      {problem !== undefined && (
        <p className={styles.problem}>
          <TriangleAlert size={14} aria-hidden="true" /> <VisibleText text={problem} />
        </p>
      )}
      {addresses.length > 0 && (
        <p className={styles.addresses}>
          The name is now at{' '}
          {addresses.map((address, index) => (
            <span key={address}>
              {index > 0 && ', '}
              <code>
                <VisibleText text={address} />
              </code>
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

type Command = Extract<ApprovalView, { kind: 'command' }>

/** A command as the policy reads it: each part with its risks, decision and rule; the part that decides is marked. */
function CommandView({ command, cwd, parts, notes = [] }: Omit<Command, 'kind'>) {
  return (
    <div className={styles.command}>
      <Code text={command} label="Command" />
      {cwd !== undefined && (
        <p className={styles.cwd}>
          in{' '}
          <code>
            <VisibleText text={cwd} />
          </code>
        </p>
      )}
      <ol className={styles.parts} aria-label="Parts of the command">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same part may come twice, and the order never changes.
          <li key={index} className={classNames(styles.part, part.decides && styles.decides)}>
            <EffectBadge effect={part.effect} />
            <div className={styles.words}>
              <code className={styles.text}>
                <VisibleText text={part.text} />
              </code>
              {part.risks?.map((risk) => (
                <span key={risk} className={styles.risk}>
                  <TriangleAlert size={12} aria-hidden="true" /> <VisibleText text={risk} />
                </span>
              ))}
              <span className={styles.rule}>
                <VisibleText text={part.rule} />
              </span>
            </div>
            {part.decides && (
              <span className={styles.mark}>
                <Pointer size={12} aria-hidden="true" /> decides
              </span>
            )}
          </li>
        ))}
      </ol>
      {notes.map((note) => (
        <Note key={note} tone="info" title={<VisibleText text={note} />} />
      ))}
    </div>
  )
}
