import { RELATED_TASK_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import { parseFormAnswer } from '../elicitation/forms.ts'
import type { Ask, OngoingCall } from './ongoing-call.ts'

/** As long as approvals wait. */
const WAIT_MS = 3_600_000

/**
 * Puts an ask to a client of the legacy era, beside the request that it belongs to. A client that fails to ask leaves it
 * to the hub's other ways; when nobody needs the answer any more, because somebody else answered, the client is told to
 * stop asking.
 */
export async function elicit(
  call: OngoingCall,
  { key, form, closed }: Ask,
  context: ServerContext,
  { taskId }: { readonly taskId?: string } = {},
): Promise<void> {
  const closing = new AbortController()
  const close = () => closing.abort(new Error('The call has ended.'))
  closed.then(close, close)
  const related = taskId !== undefined && { _meta: { [RELATED_TASK_META_KEY]: { taskId } } }
  try {
    const answer = await context.mcpReq.send(
      { method: 'elicitation/create', params: { mode: 'form', ...form, ...related } },
      { timeout: WAIT_MS, signal: closing.signal },
    )
    call.answer(key, parseFormAnswer(answer))
  } catch {
    // Why it could not ask is its own affair; that nobody answered is on record.
    call.answer(key, undefined)
  }
}
