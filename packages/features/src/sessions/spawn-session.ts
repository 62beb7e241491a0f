import { randomBytes } from 'node:crypto'
import { type Clock, didYouMean, type Principal, type Rights, ToolError } from '@tool-hub/core'
import type { Runner, SessionLimits, SessionsOptions } from './runner.ts'
import type { NewSession, StoredSession } from './store-types.ts'
import {
  MAX_TEXT_CHARS,
  OWNER,
  RESERVED_SESSION_NAMES,
  type RunnerBrief,
  SESSION_LABEL,
  type SpawnWish,
} from './types.ts'

/** The creator of a session. */
export interface Beginner {
  /** Absent if the owner starts it. */
  readonly parent?: StoredSession
  /** The runs of the parent and its ancestors. */
  readonly above: readonly string[]
  readonly rights: Rights
  readonly isTainted: boolean
}

/** A session that is ready to start. */
export interface Spawned {
  readonly session: NewSession
  readonly runner: Runner
  readonly rights: Rights & { readonly principal: Principal }
  readonly limits: SessionLimits
}

const DEFAULT_RUNNER = 'default'
const LIMITS = ['calls', 'wallMs', 'cost'] as const
/** The principal name of a session contains the name of its root principal and has at most 200 characters. */
const MAX_OWNER_CHARS = 160

/** Plans a new session: its rights never exceed those of its creator, and its usage counts against the creator's budget. */
export function planSession(
  wish: SpawnWish,
  beginner: Beginner,
  { options, clock, owner }: { options: SessionsOptions; clock: Clock; owner: string },
): Spawned {
  const { parent, above, rights, isTainted } = beginner
  const { task, label, runner: name = DEFAULT_RUNNER } = wish
  const runner = findRunner(options, name)
  checkWish(wish)
  const id = newSessionId(clock)
  const rootPrincipal = parent?.rootPrincipal ?? OWNER
  if (rootPrincipal.length > MAX_OWNER_CHARS) throw longName(rootPrincipal)
  const limits = narrower(runner.limits, wish.limits)
  const principal: Principal = {
    name: `${rootPrincipal}/${id}`,
    ...(runner.tools && { visibility: { allow: runner.tools } }),
    ...(runner.policy && { policy: runner.policy }),
    ...(Object.keys(limits).length > 0 && { budget: limits }),
    budgetFor: 'ever',
    chargedRuns: above,
    ...(rights.principal && { within: rights.principal }),
  }
  return {
    session: {
      ...{ id, root: parent?.root ?? id, depth: parent ? parent.depth + 1 : 0 },
      ...(label !== undefined && { label }),
      ...(parent && { parent: parent.id }),
      principal: principal.name,
      rootPrincipal,
      ...{ runner: name, task, limits: JSON.stringify(limits), isTainted, createdAt: clock.now(), owner },
    },
    runner,
    rights: { ...rights, caller: `session:${label ?? id}`, principal },
    limits,
  }
}

/** The runners that agents can choose from. */
export function runnerBriefs({ runners = {} }: SessionsOptions): RunnerBrief[] {
  return Object.entries(runners).map(([name, { description }]) => ({ name, ...(description && { description }) }))
}

function findRunner({ runners = {} }: SessionsOptions, name: string): Runner {
  if (Object.hasOwn(runners, name)) return runners[name]!
  const names = Object.keys(runners)
  if (names.length === 0)
    throw new ToolError('CONFIG_INVALID', 'No runner is configured, so no session can be started.', {
      fix: {
        key: 'sessions.runners',
        hint: 'Add one to sessions.runners in tool-hub.yaml, e.g. helper: { type: command, argv: [my-agent, -p] }; see docs/reference/sessions.md.',
      },
    })
  throw new ToolError('NOT_FOUND', `Unknown runner ${JSON.stringify(name)}.`, {
    hint: didYouMean(name, names) || `There are: ${names.join(', ')}.`,
  })
}

function checkWish({ task, label, limits = {} }: SpawnWish): void {
  if (task.trim() === '' || task.length > MAX_TEXT_CHARS)
    throw new ToolError('INPUT_SCHEMA_INVALID', `A task has 1 to ${MAX_TEXT_CHARS} characters, not ${task.length}.`, {
      hint: 'Describe the task; write long content to a file and name the file.',
    })
  const wrong = LIMITS.find((key) => limits[key] !== undefined && !(Number.isFinite(limits[key]) && limits[key]! >= 0))
  if (wrong !== undefined)
    throw new ToolError('INPUT_SCHEMA_INVALID', `limits.${wrong} is ${limits[wrong]}.`, {
      hint: 'Give a number that bounds it, or leave it out.',
    })
  if (label === undefined || (SESSION_LABEL.test(label) && !RESERVED_SESSION_NAMES.includes(label))) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `Invalid session label ${JSON.stringify(label.slice(0, 60))}.`, {
    hint: `Use letters, digits, ., _ and -, at most 40, and neither ${RESERVED_SESSION_NAMES.join(' nor ')}.`,
  })
}

function narrower(one: SessionLimits = {}, other: SessionLimits = {}): SessionLimits {
  const limits: { -readonly [K in keyof SessionLimits]: SessionLimits[K] } = {}
  for (const key of LIMITS) {
    const values = [one[key], other[key]].filter((value) => value !== undefined)
    if (values.length > 0) limits[key] = Math.min(...values)
  }
  return limits
}

/** A cut name could be mistaken for that of another principal, so a name that is too long is refused. */
function longName(name: string): ToolError {
  const message = `The name of the principal has ${name.length} characters; a principal that starts sessions may have at most ${MAX_OWNER_CHARS}.`
  return new ToolError('CONFIG_INVALID', message, { hint: 'Give it a shorter name.' })
}

/** Sorts by time, and cannot be guessed. */
function newSessionId(clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `session-${stamp}-${randomBytes(6).toString('hex')}`
}
