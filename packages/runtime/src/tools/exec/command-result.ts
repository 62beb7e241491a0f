import type { ModelLimit, RunningCommand } from '@tool-hub/core'
import { z } from 'zod'
import { isSecondHalf } from '../util/cut-text.ts'

/** State of a command, and the end of its output. */
export const commandResult = z.strictObject({
  status: z.enum(['exited', 'running']).describe('running: it continues in the background.'),
  sessionId: z.string().optional().describe('The name of a command in the background, for core/exec.process.'),
  stdout: z.string().describe('The last of standard output.'),
  stderr: z.string().describe('The last of standard error.'),
  head: z.string().optional().describe('The first of both, where there was more than tail holds.'),
  tail: z
    .string()
    .describe('The last of both, in the order they were read; what both write at the same moment may change places.'),
  exitCode: z.int().optional().describe('What it ended with; absent while it runs and when a signal ended it.'),
  signal: z.string().optional().describe('The signal that ended it.'),
  timedOut: z.boolean().describe('Its time was over, so it was ended.'),
  overuse: z.string().optional().describe('What it added to the disk, so that it was ended.'),
  uncovered: z
    .string()
    .optional()
    .describe('A closed path whose file somebody replaced while it ran, so that it was ended.'),
  isWaiting: z.boolean().describe('It seems to wait for an answer on its standard input.'),
  durationMs: z.number().min(0).describe('How long it has run.'),
  bytes: z.int().min(0).describe('Bytes written to standard output and error in all.'),
  artifact: z.string().optional().describe('All of its output, where that is more than fits here.'),
  sandbox: z.enum(['full', 'namespaces', 'none']).describe('How strongly it was sandboxed.'),
})

/** The state of a command as tools return it. */
export type CommandResult = z.infer<typeof commandResult>

/** Describes the current state of a command. */
export async function describeCommand(command: RunningCommand): Promise<CommandResult> {
  const { id, status, exitCode, signal, timedOut, overuse, uncovered, isBackground, isWaiting, ...rest } =
    command.state()
  const { durationMs, bytes, sandbox } = rest
  const { stdout, stderr, head, tail, isCut } = command.output()
  const isRunning = status === 'running'
  const artifact = isCut && !isRunning ? await command.artifact() : undefined
  return {
    status: isRunning ? 'running' : 'exited',
    ...(isBackground && { sessionId: id }),
    stdout,
    stderr,
    ...(head !== undefined && { head }),
    tail,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    timedOut,
    ...(overuse && { overuse: overuse.message }),
    ...(uncovered !== undefined && { uncovered }),
    isWaiting,
    durationMs,
    bytes,
    ...(artifact && { artifact: artifact.ref }),
    sandbox,
  }
}

const DEFAULT_CHARS = 30_000
/** Space for the notes about the omitted middle and the end. */
const NOTE_CHARS = 500

/** For a coding model: the output, then what the output does not show. */
export function showCommand(result: CommandResult, limit?: ModelLimit): string {
  return [bothEnds(result, limit).replace(/\n$/, ''), endNote(result)].filter((part) => part !== '').join('\n')
}

/** The output, preceded by `Exit code: N` if the command failed. */
export function showShell(result: CommandResult, limit?: ModelLimit): string {
  const body = bothEnds(result, limit)
  if (result.overuse !== undefined) return `${result.overuse}\n${body}`
  if (result.uncovered !== undefined) return `${uncoveredNote(result.uncovered)}\n${body}`
  if (result.timedOut) return `Timed out after ${seconds(result)}\n${body}`
  if (result.signal !== undefined) return `Killed by ${result.signal}\n${body}`
  return result.exitCode === 0 ? body : `Exit code: ${result.exitCode}\n${body}`
}

/** The output, or its beginning and end if it is too long: as much of each as fits next to the notes. */
function bothEnds(result: CommandResult, { maxChars }: ModelLimit = { maxChars: DEFAULT_CHARS }): string {
  const { head, tail } = result
  if (head === undefined) return [cutNote(result), tail].filter((part) => part !== '').join('\n')
  const room = Math.max(0, Math.floor((maxChars - NOTE_CHARS) / 2))
  // Whole lines, unless a line is so long that little would be left.
  const lineEnd = head.lastIndexOf('\n', room) + 1
  const start = head.slice(0, lineEnd > room / 2 ? lineEnd : room - Number(isSecondHalf(head, room)))
  const from = tail.length - Math.min(room, tail.length)
  const lineStart = tail.indexOf('\n', from) + 1
  const isNear = lineStart > 0 && lineStart - from < room / 2
  const end = tail.slice(isNear ? lineStart : from + Number(isSecondHalf(tail, from)))
  const note = `[… ${leftOut(result, start + end)} of output are left out here${placeOfAll(result)} …]`
  return `${start}${start.endsWith('\n') ? '' : '\n'}${note}\n${end}`
}

/** How much of the output a text does not show. */
function leftOut({ bytes }: CommandResult, shown: string): string {
  return `${Math.max(0, bytes - Buffer.byteLength(shown)).toLocaleString('en-US')} bytes`
}

function placeOfAll(result: CommandResult): string {
  const where = whereOf(result)
  return where === undefined ? '' : `; all of it: ${where}`
}

/** A note that there is more output, and where. */
function cutNote(result: CommandResult): string {
  const { tail, artifact, stdout, stderr } = result
  const isWhole = artifact === undefined && Buffer.byteLength(tail) >= Buffer.byteLength(stdout + stderr)
  if (isWhole) return ''
  return `[the first ${leftOut(result, tail)} of output are left out${placeOfAll(result)}]`
}

function whereOf({ artifact, sessionId }: CommandResult): string | undefined {
  return artifact ?? (sessionId === undefined ? undefined : `process log of ${sessionId}`)
}

function endNote(result: CommandResult): string {
  const { status, sessionId, exitCode, signal, timedOut, overuse, uncovered, isWaiting, tail } = result
  if (status === 'running') {
    const waiting = isWaiting ? ' It seems to wait for input.' : ''
    return `[still running after ${seconds(result)} as session ${sessionId}.${waiting} Use process to poll, write or kill]`
  }
  if (overuse !== undefined) return `[${overuse}]`
  if (uncovered !== undefined) return `[${uncoveredNote(uncovered)}]`
  if (timedOut) return `[timed out after ${seconds(result)} and was ended]`
  if (signal !== undefined) return `[ended by ${signal} after ${seconds(result)}]`
  if (exitCode !== 0) return `[exit code ${exitCode}, ${seconds(result)}]`
  return tail === '' ? `[no output, exit code 0, ${seconds(result)}]` : ''
}

/** Why a command was stopped whose sandbox did not cover a path. */
export function uncoveredNote(path: string): string {
  return `The command was stopped: ${path} was replaced while it ran, so that the sandbox did not close it any more.`
}

function seconds({ durationMs }: CommandResult): string {
  return `${(durationMs / 1000).toFixed(1)} s`
}
