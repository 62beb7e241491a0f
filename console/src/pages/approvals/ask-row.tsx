import { FilePen, Globe, type LucideIcon, MessageCircleQuestionMark, ShieldQuestionMark, Terminal } from 'lucide-react'
import { Badge } from '../../components/badge.tsx'
import { SplitRow } from '../../components/split-list.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { type Ask, pathOf, previewOf } from './ask.ts'
import styles from './ask-list.module.css'
import { AskState } from './ask-state.tsx'
import { Deadline } from './deadline.tsx'

const LONGEST_PREVIEW = 200

/** An ask in the list: what, about what, who, since when and until when. */
export function AskRow({ ask, isSelected, tab }: { ask: Ask; isSelected: boolean; tab: string }) {
  const isUntrusted = ask.kind === 'approval' && ask.labels.includes('untrusted')
  const risk = ask.kind === 'approval' && ask.state === 'waiting' ? ask.risks?.[0] : undefined
  return (
    <SplitRow
      to={pathOf(ask.id, tab)}
      isSelected={isSelected}
      icon={iconOf(ask)}
      title={<VisibleText text={ask.tool} />}
      side={ask.state === 'waiting' ? <Deadline at={ask.expiresAt} /> : <AskState ask={ask} />}
      preview={<VisibleText text={previewOf(ask).slice(0, LONGEST_PREVIEW)} />}
      meta={
        <>
          <span className={styles.caller}>
            <VisibleText text={ask.caller} />
          </span>
          <Time at={ask.answered?.at ?? ask.askedAt} />
          {risk !== undefined && (
            <Badge tone="warn">
              <VisibleText text={risk} />
            </Badge>
          )}
          {isUntrusted && <Badge tone="warn">untrusted</Badge>}
          {ask.isRevoked && <Badge tone="warn">token revoked</Badge>}
          {!ask.mayAnswer && ask.state === 'waiting' && <Badge>not yours to answer</Badge>}
        </>
      }
    />
  )
}

function iconOf(ask: Ask): LucideIcon {
  if (ask.kind === 'question') return MessageCircleQuestionMark
  const kind = ask.views[0]?.kind
  if (kind === 'command') return Terminal
  if (kind === 'diff') return FilePen
  return kind === 'url' ? Globe : ShieldQuestionMark
}
