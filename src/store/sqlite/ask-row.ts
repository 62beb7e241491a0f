import type { Ask } from '../../store.ts'

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
