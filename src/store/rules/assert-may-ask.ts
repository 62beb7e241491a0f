import { ToolError } from '../../errors.ts'
import type { NewAsk } from '../../store.ts'
import { escapeLine } from '../../value/escape-text.ts'

/** Refuses one more ask of somebody of whom enough wait: people see those of others too. */
export function assertMayAsk(
  { caller }: Pick<NewAsk, 'caller'>,
  waiting: number,
  { mostWaiting }: { readonly mostWaiting: number },
): void {
  if (waiting < mostWaiting) return
  const who = escapeLine(caller).slice(0, 200)
  throw new ToolError('RATE_LIMITED', `${waiting} asks of ${who} wait for an answer already.`, {
    hint: 'Wait until people have answered some of them, then make the call again.',
    retryable: true,
  })
}
