import { ToolError } from '../../../errors.ts'
import { HttpRefusal } from './http-refusal.ts'
import { API_HEADERS } from './security-headers.ts'
import { statusOf } from './status-of.ts'

/** The parts of an answer that says what is wrong. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const UNEXPECTED = new ToolError('INTERNAL', 'The service failed at this request; its log says why.', {
  hint: 'Try again; give the owner the time of the request if it stays.',
})

/** What to answer to anything thrown; a failure that nobody expected is told to `report`, not to the client. */
export function errorAnswer(thrown: unknown, report: (error: unknown) => void): ErrorAnswer {
  const isExpected = ToolError.is(thrown) && thrown.code !== 'INTERNAL'
  if (!isExpected) report(thrown)
  const error = isExpected ? thrown : UNEXPECTED
  const { code, message, retryable, fix } = error
  const own = error instanceof HttpRefusal ? error.headers : undefined
  return {
    status: error instanceof HttpRefusal ? error.status : statusOf(code),
    headers: { ...API_HEADERS, 'content-type': 'application/json', ...own },
    body: JSON.stringify({ error: { code, message, retryable, fix } }),
  }
}
