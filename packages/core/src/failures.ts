import { type ErrorCode, messageOf, ToolError } from './errors.ts'
import { escapeText } from './lib/index.ts'

const MAX_MESSAGE_CHARS = 2_000

/**
 * Converts what the code of a tool threw to a failure with its message. Throwing is how tools of other frameworks
 * report an ordinary failure, such as a missing file, so it is not a defect and does not pause the tool.
 * @param prefix Written before the tool's own words.
 */
export function toolFailure(name: string, thrown: unknown, prefix = ''): ToolError {
  if (ToolError.is(thrown)) return thrown
  const exhausted = resourceError(thrown, `${name} could not run`)
  if (exhausted) return exhausted
  return new ToolError('TOOL_FAILED', `${prefix}${wordsOf(name, thrown)}`, { cause: thrown })
}

function wordsOf(name: string, thrown: unknown): string {
  const said = messageOf(thrown)
  if (said.trim() === '') return `${name} did not say why it failed.`
  return escapeText(said.length > MAX_MESSAGE_CHARS ? `${said.slice(0, MAX_MESSAGE_CHARS)}…` : said)
}

/**
 * The reason for stopping a call whose caller is gone or got an answer in the meantime: the approvals that it requested
 * stay pending, and the same call made again continues to wait for them.
 */
export function callerGone(
  message: string,
  { code = 'ABORTED', hint, details }: { code?: ErrorCode; hint?: string; details?: Record<string, unknown> } = {},
): ToolError {
  return new ToolError(code, message, { hint, details: { ...details, callerGone: true } })
}

/** Whether a call was stopped for that reason, and not on purpose. */
export function isCallerGone(reason: unknown): reason is ToolError {
  return ToolError.is(reason) && reason.details?.callerGone === true
}

/** What the machine or this process has run out of, by the code of the system's or Node's error. */
const EXHAUSTED = new Map([
  ['EMFILE', 'this process has too many files and connections open'],
  ['ENFILE', 'the machine has too many files open'],
  ['ENOMEM', 'there is not enough memory'],
  ['EAGAIN', 'no more processes or threads can be started'],
  ['ERR_WORKER_INIT_FAILED', 'no thread could be started'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
])
const MAX_CAUSES = 8

/**
 * Returns OUT_OF_RESOURCES if descriptors, memory, processes or disk space ran out, also as the cause of another error,
 * or if it is that error already; `undefined` for anything else.
 * @param what What could not be done, as the beginning of a sentence.
 */
export function resourceError(thrown: unknown, what: string): ToolError | undefined {
  if (ToolError.is(thrown) && thrown.code === 'OUT_OF_RESOURCES') return thrown
  const why = exhaustedResource(thrown)
  return why === undefined ? undefined : new ToolError('OUT_OF_RESOURCES', `${what}: ${why}.`, { cause: thrown })
}

/** Describes what ran out. Returns `undefined` if the error has another reason. */
function exhaustedResource(thrown: unknown): string | undefined {
  let error = thrown
  try {
    for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1) {
      const code = 'code' in error && typeof error.code === 'string' ? EXHAUSTED.get(error.code) : undefined
      if (code !== undefined) return code
      error = error.cause
    }
  } catch {
    // A thrown proxy, or a getter that throws: not a system error.
  }
  return undefined
}

/** Throws if a call was stopped: the reason of the pipeline, or ABORTED if there is none. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return
  if (ToolError.is(signal.reason)) throw signal.reason
  throw new ToolError('ABORTED', 'The call was stopped.', { cause: signal.reason })
}
