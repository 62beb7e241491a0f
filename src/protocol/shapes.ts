import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../core/index.ts'

/** What a token or a person may do: call tools, answer asks, look at everything, change tokens and policy. */
export const SCOPES = ['call', 'approve', 'read', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

export const fix = z.object({ key: z.string().optional(), value: z.unknown().optional(), hint: z.string() })

/** Every answer that is not 2xx. */
export const apiError = z.object({
  error: z.object({ code: z.enum(CODES), message: z.string(), retryable: z.boolean(), fix }),
})

/** A page of a list: what comes after it, where there is more. */
export const pageQuery = z.object({
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

export const effect = z.enum(['allow', 'ask', 'deny'])
