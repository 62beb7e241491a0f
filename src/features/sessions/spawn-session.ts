import { randomBytes } from 'node:crypto'
import { type Clock, didYouMean, type Principal, type Rights, ToolError } from '../../core/index.ts'
import { MAX_TEXT_CHARS, OWNER } from './bounds.ts'
import type { NewSession, StoredSession } from './store-types.ts'
import {
  RESERVED_SESSION_NAMES,
  type Runner,
  type RunnerBrief,
  SESSION_LABEL,
  type SessionLimits,
  type SessionsOptions,
  type SpawnWish,
} from './types.ts'

/** Who begins a session. */
export interface Beginner {
  /** None when the owner does. */
  readonly parent?: StoredSession
  /** Runs of the parent and all above it. */
  readonly above: readonly string[]
  readonly rights: Rights
  readonly isTainted: boolean
}

/** A session that may begin. */
export interface Spawned {
  readonly session: NewSession
  readonly runner: Runner
  readonly rights: Rights & { readonly principal: Principal }
  readonly limits: SessionLimits
}

const DEFAULT_RUNNER = 'default'
const LIMITS = ['calls', 'wallMs', 'cost'] as const
/** A name of a principal has 200 characters at most, and that of a session holds the whole name of its owner. */
const MAX_OWNER_CHARS = 160

/** What a new session is and may: never more than whoever begins it, and counted with it. */
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

/** Who may work in sessions, for agents to choose from. */
export function runnerBriefs({ runners = {} }: SessionsOptions): RunnerBrief[] {
  return Object.entries(runners).map(([name, { description }]) => ({ name, ...(description && { description }) }))
}

function findRunner({ runners = {} }: SessionsOptions, name: string): Runner {
  if (Object.hasOwn(runners, name)) return runners[name]!
  const names = Object.keys(runners)
  if (names.length === 0)
    throw new ToolError('CONFIG_INVALID', 'No runner is configured, so nobody would work in a new session.', {
      fix: {
        key: 'sessions.runners',
        hint: 'Add one to sessions.runners in tool-hub.yaml, e.g. helper: { type: command, argv: [my-agent, -p] }; see docs/reference/sessions.md.',
      },
    })
  throw new ToolError('NOT_FOUND', `There is no runner ${JSON.stringify(name)}.`, {
    hint: didYouMean(name, names) || `There are: ${names.join(', ')}.`,
  })
}

function checkWish({ task, label, limits = {} }: SpawnWish): void {
  if (task.trim() === '' || task.length > MAX_TEXT_CHARS)
    throw new ToolError('INPUT_SCHEMA_INVALID', `A task has 1 to ${MAX_TEXT_CHARS} characters, not ${task.length}.`, {
      hint: 'Say what is to be done; write what is long to a file, and name the file.',
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

/** Nobody may pass for somebody else, nor answer for a session that is not known to be its own. */
function longName(name: string): ToolError {
  const message = `The name of the principal has ${name.length} characters; who begins sessions has at most ${MAX_OWNER_CHARS}.`
  return new ToolError('CONFIG_INVALID', message, { hint: 'Give it a shorter name.' })
}

/** Sorts by time, says when; nobody guesses it. */
function newSessionId(clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `session-${stamp}-${randomBytes(6).toString('hex')}`
}
