import { z } from 'zod'

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
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** What policy decides. */
export const effect = z.enum(['allow', 'ask', 'deny'])

/** A request of a client to the service. */
export interface ServiceRequest {
  /** Parameters of the URL; `undefined` leaves one out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown
  /** Stops the request when it aborts. */
  readonly signal?: AbortSignal
}

/** Sends requests to the service, for the parts of a client that belong to features. */
export interface ServiceRequests {
  /** The path of one entity of a list; its id may hold any character. */
  path(list: string, id: string): string
  /** The JSON of an answer; rejects with an `ApiError` for any that is not 2xx. */
  json<T>(method: ServiceMethod, path: string, request?: ServiceRequest): Promise<T>
  /** The answer itself; rejects with an `ApiError` for any that is not 2xx. */
  send(method: ServiceMethod, path: string, request?: ServiceRequest): Promise<Response>
}

/** The methods that routes have. */
export type ServiceMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'
