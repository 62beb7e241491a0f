import { z } from 'zod'
import { tokenLimits } from './service.ts'
import { SCOPES } from './shapes.ts'

/** What kind of principal uses the hub: `cli`, `mcp` and `program` are those that only their caller names. */
export const PRINCIPAL_KINDS = ['owner', 'token', 'user', 'config', 'cli', 'mcp', 'program'] as const

/** Somebody who uses the hub; `GET /v1/principals`. */
export const principalEntry = z.object({
  /** `token:ci`, `user:ada`, `owner`, or the caller where no principal is known: `cli:anna`. */
  name: z.string(),
  kind: z.enum(PRINCIPAL_KINDS),
  /** `gone`: a token that was revoked. */
  state: z.enum(['active', 'expired', 'gone']),
  /** Of a token: what it may do, without its secret. */
  scopes: z.array(z.enum(SCOPES)).optional(),
  limits: tokenLimits.omit({ policy: true, budget: true }).optional(),
  /** How many rules of its own a token has. */
  rules: z.number().optional(),
  expiresAt: z.number().optional(),
  /** What it may use a day, and has used today (UTC). */
  budgets: z.array(
    z.object({ unit: z.enum(['calls', 'wallMs', 'bytes', 'cost']), used: z.number(), limit: z.number() }),
  ),
  /** When it was last seen; absent before its first request. */
  lastAt: z.number().optional(),
  /** Runs on record with those of its sessions, and their calls. */
  runs: z.number(),
  calls: z.number(),
  /** Other names that it has called by, such as `mcp:claude-code`; the latest first. */
  callers: z.array(z.string()),
  /** Approvals and questions of it that wait for a person. */
  waiting: z.number(),
  /** Sessions of it that are running. */
  sessions: z.number(),
  /** Schedules that run with its rights. */
  schedules: z.number(),
})
export type PrincipalEntry = z.infer<typeof principalEntry>
export const principalList = z.object({ principals: z.array(principalEntry) })
