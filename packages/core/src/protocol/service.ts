import { z } from 'zod'
import { approval, questionEntry } from './approvals.ts'
import { callEntry } from './calls.ts'
import { FEATURE_NAMES } from './features.generated.ts'
import { runEntry } from './runs.ts'
import { givenName, SCOPES } from './shapes.ts'

/** `GET /v1/me`: who asks, and who answers. */
export const me = z.object({
  /** Who asks, with the scopes. */
  principal: z.object({ name: z.string(), scopes: z.array(z.enum(SCOPES)) }),
  /** The service that answers. */
  server: z.object({ version: z.string(), startedAt: z.number() }),
  /** To send back as `x-tool-hub-csrf` with every change, for those who signed in with a cookie. */
  csrf: z.string().optional(),
})
export type Me = z.infer<typeof me>

/** Body of `POST /v1/sessions`: a token for a cookie. */
export const signIn = z.strictObject({ token: z.string().min(1).max(4_096) })

/** What a token may be restricted to. */
export const tokenLimits = z.strictObject({
  /** The built-in tools that it sees. Default: those of the hub. */
  profile: z.enum(['minimal', 'coding', 'messaging', 'full']).optional(),
  /** Further rules; over the API they may only ask and deny. */
  policy: z.array(z.record(z.string(), z.unknown())).optional(),
  /** What it may use a day. */
  budget: z
    .strictObject({ calls: z.number(), wallMs: z.number(), bytes: z.number(), cost: z.number() })
    .partial()
    .optional(),
  /** Folders that it may use, inside those of the hub. */
  roots: z.array(z.strictObject({ path: z.string(), mode: z.enum(['read', 'write']) })).optional(),
  /** Requests a second; Default: the service's own limit. */
  rate: z.strictObject({ perSecond: z.number().positive(), burst: z.number().positive().optional() }).optional(),
  /** Tools that destroy or run commands, which are off over the network by default. */
  allowDanger: z.boolean().optional(),
})
export type TokenLimits = z.infer<typeof tokenLimits>

export const tokenEntry = tokenLimits.extend({
  /** Id of the token. */
  id: z.string(),
  /** Its name; the principal is `token:` and the name. */
  name: z.string(),
  /** What it may do. */
  scopes: z.array(z.enum(SCOPES)),
  /** When it was created, in milliseconds since 1970. */
  createdAt: z.number(),
  /** When it expires. Default: never. */
  expiresAt: z.number().optional(),
  /** When its secret was last used; absent before. */
  usedAt: z.number().optional(),
  /** When it got its secret, if it was rotated. */
  rotatedAt: z.number().optional(),
  /** The secret before the last rotation, while it is still valid: until when, and when it was last used. */
  previous: z.object({ expiresAt: z.number(), usedAt: z.number().optional() }).optional(),
})
export type TokenEntry = z.infer<typeof tokenEntry>
export const tokenList = z.object({ tokens: z.array(tokenEntry) })

/** Body of `POST /v1/tokens`. */
export const newToken = tokenLimits.extend({
  /** Its name; the principal is `token:` and the name. */
  name: givenName(64),
  /** What it may do. */
  scopes: z.array(z.enum(SCOPES)).min(1),
  /** When it expires, in milliseconds since 1970. Default: never. */
  expiresAt: z.number().optional(),
})
export type NewToken = z.infer<typeof newToken>

const DAY_MS = 86_400_000
/** How long the previous secret of a token stays valid by default. */
export const TOKEN_OVERLAP_MS = DAY_MS

/** Body of `POST /v1/tokens/{id}/rotate`. */
export const tokenOverlap = z.strictObject({
  /** How long the current secret stays valid, in milliseconds. Default: 24 hours, at most 30 days. */
  overlapMs: z
    .number()
    .int()
    .min(0)
    .max(30 * DAY_MS)
    .default(TOKEN_OVERLAP_MS),
})
export type TokenOverlap = z.input<typeof tokenOverlap>
/** The secret is shown once; only its hash is stored. */
export const createdToken = z.object({ token: tokenEntry, secret: z.string() })

export const grantEntry = z.object({
  /** Id of the answer. */
  id: z.string(),
  /** What was answered. */
  effect: z.enum(['allow', 'deny']),
  /** Canonical name of the tool. */
  tool: z.string(),
  /** Which calls it covers. */
  covers: z.enum(['exact', 'targets', 'pattern', 'values']),
  /** What the calls touch. */
  targets: z.array(z.string()),
  /** Of `pattern`: what it matches. */
  pattern: z.object({ on: z.array(z.string()), shown: z.string(), tools: z.string().optional() }).optional(),
  /** Of `values`: the arguments whose values it covers. */
  values: z.array(z.object({ argument: z.string() })).optional(),
  /** The scripts that it names: it ends when one of them changes. */
  scripts: z.array(z.object({ name: z.string() })).optional(),
  /** Whose calls it covers; Default: everybody's. */
  principal: z.string().optional(),
  /** The session that it holds for. Default: all. */
  session: z.string().optional(),
  /** Until when it holds, ISO 8601. Default: always. */
  until: z.string().optional(),
  /** Who answered. */
  by: z.string(),
  /** Why. */
  reason: z.string().optional(),
  /** When it was answered, ISO 8601. */
  createdAt: z.string(),
})
export type GrantEntry = z.infer<typeof grantEntry>
export const grantList = z.object({ grants: z.array(grantEntry) })

/** `GET /v1/audit/verify`; without `run`, all. `only: 'missing'` looks for runs that are gone and reads no record. */
export const auditQuery = z.object({ run: z.string().max(128).optional(), only: z.literal('missing').optional() })

/** `GET /v1/audit/verify?run=`: one run, or all. */
export const auditReport = z.object({
  /** Whether all records are as they were written. */
  ok: z.boolean(),
  /** The runs that were checked. */
  runs: z.array(
    z.object({
      /** Id of the run. */
      run: z.string(),
      /** Whether its record is as it was written. */
      ok: z.boolean(),
      /**
       * `open`: a living process writes it; `moved`: another machine has continued it; `unproven`: nothing proves that its end
       * was not removed.
       */
      state: z.enum(['intact', 'open', 'moved', 'unproven', 'broken']),
      /** How many lines it has. */
      lines: z.number(),
      /** How many calls it has. */
      calls: z.number(),
      /** How many of them have no end, because their process ended. */
      interrupted: z.number(),
      /** What is wrong, with the line. */
      problems: z.array(z.object({ message: z.string(), seq: z.number().optional() })),
      /** What is remarkable and not wrong, with the line. */
      remarks: z.array(z.object({ message: z.string(), seq: z.number().optional() })),
    }),
  ),
})
export type AuditReport = z.infer<typeof auditReport>

/** How the config file compares with what the service uses. */
export const configState = z.object({
  /** Absolute path of the file. */
  file: z.string(),
  /** When its rules were last taken over. */
  appliedAt: z.number(),
  /** Why the file as it is now is refused; the rules before it hold. */
  problem: z.string().optional(),
  /** Changed sections that take effect after a restart. */
  restart: z.array(z.string()),
})
export type ConfigState = z.infer<typeof configState>

/** `GET /v1/health`: the state of the service. */
export const health = z.object({
  /** When the service started, in milliseconds since 1970. */
  startedAt: z.number(),
  /** How long it has been running. */
  uptimeMs: z.number(),
  /** Memory of the process. */
  memoryBytes: z.number(),
  /** Calls in progress. */
  inFlight: z.number(),
  /** Approvals and questions that wait for a person. */
  waiting: z.number(),
  /** The last hour, a minute each, oldest first. */
  slices: z.array(
    z.object({
      /** When the minute began, in milliseconds since 1970. */
      at: z.number(),
      /** How many calls ended. */
      calls: z.number(),
      /** Neither denied calls nor errors of callers are among them. */
      failures: z.number(),
      /** Calls that were denied or need an approval. */
      denials: z.number(),
      /** Calls that failed because of their caller: wrong arguments, a missing file, a command that failed. */
      callerErrors: z.number(),
      /** Without the time that people took to answer. */
      meanMs: z.number(),
      /** The longest call. */
      maxMs: z.number(),
    }),
  ),
  /** The tools that were called in the last hour. */
  tools: z.array(
    z.object({
      /** Canonical name of the tool. */
      tool: z.string(),
      /** How many calls started. */
      calls: z.number(),
      /** Neither denied calls nor errors of callers are among them. */
      failures: z.number(),
      /** Calls that were denied or need an approval. */
      denials: z.number(),
      /** Calls that failed because of their caller: wrong arguments, a missing file, a command that failed. */
      callerErrors: z.number(),
      /** Mean duration of a call. */
      meanMs: z.number(),
    }),
  ),
  /** The isolation of commands. */
  sandbox: z.object({ level: z.string(), problem: z.string().optional() }),
  /** The MCP servers. */
  servers: z.array(
    z.object({
      /** Name of the server. */
      name: z.string(),
      /** Whether it is connected. */
      state: z.string(),
      /** How many tools it has. */
      tools: z.number(),
      /** Tools that changed or are new since the server was first seen and wait for the owner. */
      changed: z.number().optional(),
      /** Why it is not connected. */
      problem: z.string().optional(),
    }),
  ),
  /** What accounts have used of their limits. */
  budgets: z.array(z.object({ account: z.string(), unit: z.string(), used: z.number(), limit: z.number() })),
  /** Whether the store works. */
  store: z.object({ ok: z.boolean(), problem: z.string().optional() }),
  /** Room that store and records take, and that is left on their disks. */
  disk: z
    .object({
      /** Size of the store. */
      storeBytes: z.number(),
      /** Measured every few minutes; absent before the first time. */
      recordsBytes: z.number().optional(),
      /** The disks of both folders. */
      disks: z.array(z.object({ folder: z.enum(['data', 'runs']), freeBytes: z.number(), sizeBytes: z.number() })),
    })
    .optional(),
  /** The config file, where there is one. */
  config: configState.optional(),
})
export type Health = z.infer<typeof health>

/** A feature, and what of it has changed. */
export const featureChange = z.object({ feature: z.enum(FEATURE_NAMES), subject: z.string() })

const toolEvent = { callId: z.string(), tool: z.string(), run: z.string(), time: z.string() }
const toolEnd = {
  ...toolEvent,
  status: z.string(),
  durationMs: z.number().optional(),
  attempts: z.number().optional(),
  summary: z.string(),
}

/** Calls under other names; see `toToolEvents`. Only `GET /v1/events` sends them, to those who name them in `types`. */
export const toolEvents = {
  'tool.started': z.object({ type: z.literal('tool.started'), ...toolEvent }),
  'tool.completed': z.object({ type: z.literal('tool.completed'), ...toolEnd }),
  'tool.failed': z.object({
    type: z.literal('tool.failed'),
    ...toolEnd,
    error: z.object({ code: z.string(), message: z.string() }),
  }),
} as const

/** What `GET /v1/events` and the WebSocket send; `event:` is the type. Each has an id to continue from. */
export const serviceEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('call'), call: callEntry }),
  z.object({ type: z.literal('run'), run: runEntry }),
  z.object({ type: z.literal('approval'), approval }),
  z.object({ type: z.literal('question'), question: questionEntry }),
  z.object({ type: z.literal('tools-changed') }),
  z.object({ type: z.literal('policy-changed') }),
  /** Something of memory, sessions, messages, schedules or a canvas has changed. */
  z.object({ type: z.literal('feature-changed'), ...featureChange.shape }),
  z.object({ type: z.literal('presence'), people: z.array(z.object({ name: z.string(), since: z.number() })) }),
  /** Events were missed: fetch the lists again. */
  z.object({ type: z.literal('reset') }),
  ...Object.values(toolEvents),
])
export type ServiceEvent = z.infer<typeof serviceEvent>

/** What kind of principal uses the hub: `cli`, `mcp` and `program` are those that only their caller names. */
const PRINCIPAL_KINDS = ['owner', 'token', 'user', 'config', 'cli', 'mcp', 'program'] as const

/** Somebody who uses the hub; `GET /v1/principals`. */
const principalEntry = z.object({
  /** `token:ci`, `user:ada`, `owner`, or the caller where no principal is known: `cli:anna`. */
  name: z.string(),
  /** What kind of principal it is. */
  kind: z.enum(PRINCIPAL_KINDS),
  /** `gone`: a token that was revoked. */
  state: z.enum(['active', 'expired', 'gone']),
  /** Of a token: what it may do, without its secret. */
  scopes: z.array(z.enum(SCOPES)).optional(),
  /** Of a token: its other limits. */
  limits: tokenLimits.omit({ policy: true, budget: true }).optional(),
  /** How many rules of its own a token has. */
  rules: z.number().optional(),
  /** Of a token: when it expires. */
  expiresAt: z.number().optional(),
  /** What it may use a day, and has used today (UTC). */
  budgets: z.array(
    z.object({ unit: z.enum(['calls', 'wallMs', 'bytes', 'cost']), used: z.number(), limit: z.number() }),
  ),
  /** When it was last seen; absent before its first request. */
  lastAt: z.number().optional(),
  /** Runs on record with those of its sessions, and their calls. */
  runs: z.number(),
  /** Calls on record. */
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
