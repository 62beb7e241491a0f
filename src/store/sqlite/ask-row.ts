import type { Ask, AskBrief } from '../../store.ts'

/** An ask as the table has it. */
export interface AskRow {
  readonly id: string
  readonly kind: Ask['kind']
  readonly call_id: string
  readonly run: string
  readonly tool: string
  readonly caller: string
  readonly hash: string
  readonly request: string
  readonly asked_at: number
  readonly expires_at: number
  readonly owner: string
  readonly state: Ask['state']
  readonly used: number
  readonly reply: string | null
  readonly answered_by: string | null
  readonly answered_via: string | null
  readonly answered_at: number | null
}

/** All columns of an ask. */
export const ASK_COLUMNS =
  'id, kind, call_id, run, tool, caller, hash, request, asked_at, expires_at, owner, state, used, reply, answered_by, answered_via, answered_at'

/** The columns that an ask is found by. */
export const BRIEF_COLUMNS = 'id, kind, caller, asked_at, expires_at, state'
/** An ask with no more than these. */
export type BriefRow = Pick<AskRow, 'id' | 'kind' | 'caller' | 'asked_at' | 'expires_at' | 'state'>

/** The ask of a row. */
export function toAsk(row: AskRow): Ask {
  const { id, kind, run, tool, caller, hash, request, owner, state, reply } = row
  return {
    id,
    kind,
    callId: row.call_id,
    run,
    tool,
    caller,
    hash,
    request,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    owner,
    state,
    ...(reply !== null && {
      answer: { reply, by: row.answered_by!, via: row.answered_via!, at: row.answered_at! },
    }),
    used: row.used === 1,
  }
}

/** What a row of the columns to find it by says. */
export function toBrief({ id, kind, caller, asked_at: askedAt, expires_at: expiresAt, state }: BriefRow): AskBrief {
  return { id, kind, caller, askedAt, expiresAt, state }
}
