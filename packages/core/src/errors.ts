import type { ErrorCode } from './protocol/index.ts'

export type { ErrorCode }

/** What a failed call's `status` says; the code says why. */
export type FailureStatus = 'error' | 'denied' | 'approval_required' | 'aborted' | 'timeout'

/** Who has to act: only `tool` failures count against a tool's circuit breaker. */
export type Blame = 'caller' | 'owner' | 'tool'

interface ErrorKind {
  /** What is wrong, in one sentence for people and models. */
  readonly meaning: string
  /** What to do next; the hint of an error that brings none of its own. */
  readonly fix: string
  /** Whether the same call may succeed later, for errors that do not say so themselves. */
  readonly retryable: boolean
  /** The `status` of a call that failed with this code. */
  readonly status: FailureStatus
  /** Who has to act: only failures of the `tool` count for its circuit breaker. */
  readonly blame: Blame
}

/** The one table of error codes; docs/reference/errors.md is kept equal to it by a test. */
export const ERRORS = {
  INPUT_SCHEMA_INVALID: kind(
    'The arguments do not fit the tool.',
    'Correct the named arguments and call again.',
    'caller',
  ),
  OUTPUT_SCHEMA_INVALID: kind(
    'The tool returned something its own output schema refuses.',
    'Report it to the author of the tool.',
    'tool',
  ),
  POLICY_DENIED: kind('A rule forbids this call.', 'Ask the owner to change the named rule.', 'owner', {
    status: 'denied',
  }),
  PATH_OUTSIDE_SANDBOX: kind('The path leaves the sandbox roots.', 'Use a path below a root.', 'caller', {
    status: 'denied',
  }),
  PATH_DENIED: kind(
    'The path is inside a root but protected.',
    'Use another path: what is protected no tool gets; a person can work on it by hand.',
    'caller',
    { status: 'denied' },
  ),
  FILE_TOO_LARGE: kind('The file or text is over its limit.', 'Read a part, or raise the named limit.', 'caller'),
  HTTP_DISALLOWED_HOST: kind(
    'The host or its address is not one the owner allows.',
    'Add the host to sandbox.network in tool-hub.yaml.',
    'owner',
    { status: 'denied' },
  ),
  HTTP_TIMEOUT: kind('The server did not answer in time.', 'Try again, or raise timeoutMs.', 'tool', {
    retryable: true,
  }),
  HTTP_TOO_LARGE: kind(
    'The response is over its limit.',
    'Raise the limit that the message names, or download it to a file.',
    'caller',
  ),
  UPSTREAM_ERROR: kind(
    'A server or program that the tool used failed.',
    'Try again later; details are in the audit.',
    'tool',
    { retryable: true },
  ),
  TOOL_FAILED: kind(
    'The tool reported that it failed; the message is its own.',
    'Do what the message says, or use another tool.',
    'caller',
  ),
  TOOL_NOT_FOUND: kind('No tool has this name.', 'Use one of the nearest names, or list the tools.', 'caller'),
  TOOL_DISABLED: kind(
    'The tool exists but this agent may not see it.',
    'Ask the owner to show it: tools.also, tools.profile, tools.allow, tools.deny.',
    'owner',
    { status: 'denied' },
  ),
  APPROVAL_DENIED: kind(
    'A person said no.',
    'Do not repeat the call. If the reason does not say what to do instead, ask the user.',
    'owner',
    {
      status: 'denied',
    },
  ),
  APPROVAL_TIMEOUT: kind(
    'Nobody answered in time.',
    'Call again when somebody is there, or have the owner allow it by a rule.',
    'owner',
    { status: 'approval_required', retryable: true },
  ),
  APPROVAL_UNAVAILABLE: kind(
    'The call needs a person to answer, and nobody can be asked, or a request waits that nobody has answered yet.',
    'If the message says that a request waits, repeat the same call; otherwise set an approver, use --yes, or have the owner allow it by a rule.',
    'owner',
    { status: 'approval_required' },
  ),
  TIMEOUT: kind('The tool did not finish in time.', 'Ask for less, or raise the timeout.', 'tool', {
    status: 'timeout',
    retryable: true,
  }),
  ABORTED: kind('The caller stopped the call.', 'Nothing to do.', 'caller', { status: 'aborted' }),
  BUDGET_EXCEEDED: kind(
    'The run, session or tool has used up its budget.',
    'Finish with what there is, or have the owner raise the named limit.',
    'owner',
  ),
  UNAUTHENTICATED: kind(
    'Nobody knows who asks: no token came, or one that is unknown, expired or revoked.',
    'Send Authorization: Bearer <token>; tool-hub tokens add makes one.',
    'caller',
    { status: 'denied' },
  ),
  FORBIDDEN: kind(
    'Who asks is known, or where it comes from, and may not do this.',
    'Use a token that has the named scope, or ask the owner for one.',
    'owner',
    { status: 'denied' },
  ),
  RATE_LIMITED: kind(
    'Too many calls in a short time.',
    'Wait as long as the message says, then call again.',
    'caller',
    { retryable: true },
  ),
  CIRCUIT_OPEN: kind(
    'The tool failed several times in a row and is paused.',
    'Wait as long as the message says, or use another tool.',
    'tool',
    { retryable: true },
  ),
  CONFLICT: kind(
    'It exists already, changed meanwhile, or is in use by another.',
    'Look at the present state, then decide.',
    'caller',
  ),
  NOT_FOUND: kind('What the call names does not exist.', 'Check the name.', 'caller'),
  EXEC_FAILED: kind('A command failed, or could not be run.', 'Read its output; correct the command.', 'caller'),
  LOOP_DETECTED: kind(
    'The same call failed the same way several times.',
    'Change the arguments or the plan.',
    'caller',
  ),
  SANDBOX_UNAVAILABLE: kind(
    'The isolation that this call needs cannot be had here.',
    'Run tool-hub doctor; install what it names.',
    'owner',
  ),
  CLIENT_GONE: kind('The client that runs this tool went away.', 'Reconnect the client and call again.', 'caller', {
    retryable: true,
  }),
  NO_WORKER: kind(
    'The call belongs on a worker, and none took it; it was not executed.',
    'Start a worker with the labels that the message names: tool-hub worker --labels.',
    'owner',
    { retryable: true },
  ),
  WORKER_LOST: kind(
    'The worker that executed the call ended before it had a result; its effect is unknown.',
    'Look whether it happened, then decide whether to repeat it.',
    'owner',
  ),
  RECORDS_UNAVAILABLE: kind(
    'The records cannot be written, so nothing that changes the world may happen.',
    'Free the disk or repair the folder that the message names.',
    'owner',
    { status: 'denied', retryable: true },
  ),
  RUN_ELSEWHERE: kind(
    'Another process has the run open.',
    'Send the call to that process, or again when it has closed the run.',
    'owner',
    { retryable: true },
  ),
  RUN_MOVED: kind(
    'The run was taken over by another process while the call was under way.',
    'Check whether the call had an effect, then call again.',
    'owner',
    { retryable: true },
  ),
  PROCESS_CUT_OFF: kind(
    'This process has had no contact with the shared store for so long that others may have taken over its runs.',
    'Try again: it continues by itself as soon as it reaches the store.',
    'owner',
    { retryable: true },
  ),
  OUT_OF_RESOURCES: kind(
    'File descriptors, memory, processes or disk space ran out for the moment.',
    'Try again in a moment; the owner raises the limit that the message names, such as ulimit -n.',
    'owner',
    { retryable: true },
  ),
  CONFIG_INVALID: kind('The configuration cannot be used.', 'Correct the named line.', 'owner'),
  INTERNAL: kind(
    'A defect in a built-in tool, a hook or the hub.',
    'Give the call id to the owner; the audit has the details.',
    'tool',
  ),
} as const satisfies Record<ErrorCode, ErrorKind>

/** Errors that the caller has to handle, but that show that the tool or its client does not work. */
const TOOL_PROBLEMS: readonly ErrorCode[] = ['TOOL_FAILED', 'CLIENT_GONE']

/** Errors that say nothing about the health of the tool: wrong arguments, a missing file, a command that failed. */
export const CALLER_ERRORS: ReadonlySet<string> = new Set(
  (Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => ERRORS[code].blame === 'caller' && !TOOL_PROBLEMS.includes(code),
  ),
)

/** What to change, and where, so that the call would work. */
export interface Fix {
  /** The option or the config key to change, such as `sandbox.network`; absent when no setting would help. */
  readonly key?: string
  /** A value of `key` that would let the call work, where one is known. */
  readonly value?: unknown
  /** What to do next, in one sentence that a model can follow and a person can read. */
  readonly hint: string
}

/** What a `ToolError` may carry beside code and message. */
export interface ToolErrorOptions {
  /** What to do next. Default: the fix that the error table has for the code. */
  readonly hint?: string
  /** A setting that would help, in addition to the hint; its own `hint` wins over `hint`. */
  readonly fix?: { readonly key?: string; readonly value?: unknown; readonly hint?: string }
  /** Whether the same call may succeed later. Default: what the error table says for the code. */
  readonly retryable?: boolean
  /** For the audit only, never sent to a model. */
  readonly details?: Readonly<Record<string, unknown>>
  /** What there is to give nevertheless, of the tool's output schema: the output of a command that failed. */
  readonly data?: unknown
  /** The error behind this one; kept for the audit, never sent to a model. */
  readonly cause?: unknown
}

const MARK = Symbol.for('tool-hub.ToolError')

/**
 * An expected failure: the code says what is wrong, the message has the numbers, the fix says what to do next.
 * @example
 * throw new ToolError('FILE_TOO_LARGE', 'notes.md has 9 MB, the limit is 5 MB.', {
 *   hint: 'Read a part with offset and limit.',
 * })
 */
export class ToolError extends Error {
  readonly [MARK] = true
  /** The code of the error table, such as `FILE_TOO_LARGE`; callers branch on it, not on the message. */
  readonly code: ErrorCode
  /** What to change so that the call would work; always has a `hint`. */
  readonly fix: Fix
  /** Whether the same call may succeed later; only such errors are repeated when a tool declares `retry`. */
  readonly retryable: boolean
  /** For the audit only, never sent to a model. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** What the tool has to return nevertheless, such as the output of a command that failed. */
  readonly data: unknown

  constructor(code: ErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'ToolError'
    this.code = code
    this.fix = { ...options.fix, hint: options.fix?.hint ?? options.hint ?? ERRORS[code].fix }
    this.retryable = options.retryable ?? ERRORS[code].retryable
    this.details = options.details
    this.data = options.data
  }

  /** True for any tool-hub error, also one made by another copy of the package. */
  static is(value: unknown): value is ToolError {
    try {
      return typeof value === 'object' && value !== null && MARK in value
    } catch {
      // A proxy whose traps throw is none of ours.
      return false
    }
  }
}

/** What anything thrown says of itself; never throws, whatever it is. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return 'something that cannot be written as text'
  }
}

function kind(
  meaning: string,
  fix: string,
  blame: Blame,
  { status = 'error', retryable = false }: { status?: FailureStatus; retryable?: boolean } = {},
): ErrorKind {
  return { meaning, fix, retryable, status, blame }
}

/** An error with its own HTTP status and headers. */
export class HttpRefusal extends ToolError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    { hint, headers = {} }: { readonly hint?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, hint === undefined ? {} : { hint })
    this.status = status
    this.headers = headers
  }
}
