import { z } from 'zod'
import { isGivenName, NAME_SIGNS, namePattern } from './given-name.ts'

/** The codes of errors; the table in `core/errors.ts` says what each means and what to do. */
export const ERROR_CODES = [
  'INPUT_SCHEMA_INVALID',
  'OUTPUT_SCHEMA_INVALID',
  'POLICY_DENIED',
  'PATH_OUTSIDE_SANDBOX',
  'PATH_DENIED',
  'FILE_TOO_LARGE',
  'HTTP_DISALLOWED_HOST',
  'HTTP_TIMEOUT',
  'HTTP_TOO_LARGE',
  'UPSTREAM_ERROR',
  'TOOL_FAILED',
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'APPROVAL_DENIED',
  'APPROVAL_TIMEOUT',
  'APPROVAL_UNAVAILABLE',
  'TIMEOUT',
  'ABORTED',
  'BUDGET_EXCEEDED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'CIRCUIT_OPEN',
  'CONFLICT',
  'NOT_FOUND',
  'EXEC_FAILED',
  'LOOP_DETECTED',
  'SANDBOX_UNAVAILABLE',
  'CLIENT_GONE',
  'NO_WORKER',
  'WORKER_LOST',
  'RECORDS_UNAVAILABLE',
  'RUN_ELSEWHERE',
  'RUN_MOVED',
  'PROCESS_CUT_OFF',
  'OUT_OF_RESOURCES',
  'CONFIG_INVALID',
  'INTERNAL',
] as const

/** A code of the error table. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** What a token or a person may do: call tools, answer approval requests, read everything, change tokens and policy. */
export const SCOPES = ['call', 'approve', 'read', 'admin'] as const

/** One of the scopes. */
export type Scope = (typeof SCOPES)[number]

/** What to change so that the call would work. */
export const fix = z.object({ key: z.string().optional(), value: z.unknown().optional(), hint: z.string() })

/** Every answer that is not 2xx. */
export const apiError = z.object({
  error: z.object({ code: z.enum(ERROR_CODES), message: z.string(), retryable: z.boolean(), fix }),
})

/** A page of a list: what comes after it, where there is more. */
export const pageQuery = z.object({
  /** `next` of the page before. Default: the newest. */
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** What policy decides. */
export const effect = z.enum(['allow', 'ask', 'deny'])

/** A name that people give, in its normal form. */
export function givenName(maxLength: number) {
  const message = `${NAME_SIGNS}, at most ${maxLength}`
  return z
    .string()
    .normalize('NFC')
    .regex(namePattern(maxLength), { error: message, abort: true })
    .refine((name) => isGivenName(name, maxLength), message)
}
