import { messageOf, ToolError } from '@tool-hub/core'
import type { CDPSession } from 'playwright-core'
import type { ActionLimits } from './take-snapshot.ts'

/** The value of an expression. */
export interface Evaluated {
  /** As JSON; empty for a value without a JSON form, such as undefined. */
  readonly json: string
  readonly isCut: boolean
}

const MAX_CHARS = 50_000

/** Evaluates an expression in the main world of the page and awaits it; terminates it after the timeout. */
export async function evaluateInPage(
  session: CDPSession,
  expression: string,
  patience: ActionLimits,
): Promise<Evaluated> {
  const timeout = Math.max(1, Math.floor(patience.timeout))
  const evaluating = session
    .send('Runtime.evaluate', {
      expression: wrapped(expression),
      awaitPromise: true,
      returnByValue: true,
      userGesture: false,
      timeout,
    })
    .catch((error) => {
      // The protocol reports its own timeout this way, sometimes before ours fires.
      throw /Internal error/.test(messageOf(error)) ? late(timeout) : error
    })
  const { result, exceptionDetails } = await orStop(evaluating, session, { ...patience, timeout })
  if (exceptionDetails) throw failed(exceptionDetails.exception?.description ?? exceptionDetails.text, timeout)
  const json = typeof result.value === 'string' ? result.value : ''
  return { json: json.slice(0, MAX_CHARS), isCut: json.length > MAX_CHARS }
}

/** Wraps the expression so that the page returns at most the characters that are kept. */
function wrapped(expression: string): string {
  return `(async () => {
    const value = await (0, eval)(${JSON.stringify(expression)})
    return String(JSON.stringify(value) ?? '').slice(0, ${MAX_CHARS + 1})
  })()`
}

/** The timeout of the protocol covers synchronous code only; this one also covers pending promises. */
async function orStop<T>(work: Promise<T>, session: CDPSession, { timeout, signal }: ActionLimits): Promise<T> {
  let stop = () => {}
  const stopped = new Promise<never>((_, reject) => {
    const end = (error: unknown) => {
      session.send('Runtime.terminateExecution').catch(() => {})
      reject(error)
    }
    const timer = setTimeout(() => end(late(timeout)), timeout)
    const abort = () => end(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  })
  work.catch(() => {})
  return Promise.race([work, stopped]).finally(stop)
}

function late(timeoutMs: number): ToolError {
  return new ToolError('TIMEOUT', `The expression did not finish within ${timeoutMs} ms, and was ended.`, {
    hint: 'Evaluate something that ends by itself.',
  })
}

/** The description comes from the page, so only the kind of the error is put into the message. */
function failed(description: string, timeoutMs: number): ToolError {
  if (/Execution was terminated/i.test(description)) return late(timeoutMs)
  const kind = /^(?:Uncaught )?([A-Z][A-Za-z]{2,30}(?:Error|Exception))\b/.exec(description)?.[1]
  return new ToolError('EXEC_FAILED', `The expression threw ${kind ? `a ${kind}` : 'something'}.`, {
    hint: 'Correct it; the console of the page has the whole error.',
    details: { thrown: description.slice(0, 2_000) },
  })
}
