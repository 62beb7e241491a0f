import type { ModelLimit } from '../../core/index.ts'
import { isSecondHalf } from '../util/code-points.ts'
import type { CommandResult } from './command-result.ts'

const DEFAULT_CHARS = 30_000
/** Room for what is said of the middle and of the end. */
const NOTE_CHARS = 500

/** For a coding model: the output, then what it cannot know from it. */
export function showCommand(result: CommandResult, limit?: ModelLimit): string {
  return [bothEnds(result, limit).replace(/\n$/, ''), endNote(result)].filter((part) => part !== '').join('\n')
}

/** S2's form: the output, after `Exit code: N` when the command failed. */
export function showShell(result: CommandResult, limit?: ModelLimit): string {
  const body = bothEnds(result, limit)
  if (result.overuse !== undefined) return `${result.overuse}\n${body}`
  if (result.uncovered !== undefined) return `${uncoveredNote(result.uncovered)}\n${body}`
  if (result.timedOut) return `Timed out after ${seconds(result)}\n${body}`
  if (result.signal !== undefined) return `Killed by ${result.signal}\n${body}`
  return result.exitCode === 0 ? body : `Exit code: ${result.exitCode}\n${body}`
}

/** The output, or both of its ends where there was more: as much of each as fits beside the notes. */
function bothEnds(result: CommandResult, { maxChars }: ModelLimit = { maxChars: DEFAULT_CHARS }): string {
  const { head, tail, bytes } = result
  if (head === undefined) return [cutNote(result), tail].filter((part) => part !== '').join('\n')
  const room = Math.max(0, Math.floor((maxChars - NOTE_CHARS) / 2))
  const start = head.slice(0, head.lastIndexOf('\n', room) + 1 || room - Number(isSecondHalf(head, room)))
  const from = tail.length - Math.min(room, tail.length)
  const end = tail.slice(tail.indexOf('\n', from) + 1 || from + Number(isSecondHalf(tail, from)))
  const where = whereOf(result)
  const note = `[… the middle of ${bytes} bytes of output is left out${where === undefined ? '' : `; all of it: ${where}`} …]`
  return `${start}${start.endsWith('\n') ? '' : '\n'}${note}\n${end}`
}

/** Says that there is more, and where. */
export function cutNote(result: CommandResult): string {
  const { bytes, tail, artifact, stdout, stderr } = result
  const isWhole = artifact === undefined && Buffer.byteLength(tail) >= Buffer.byteLength(stdout + stderr)
  if (isWhole) return ''
  const where = whereOf(result)
  return `[the end of ${bytes} bytes of output${where === undefined ? '' : `; all of it: ${where}`}]`
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

/** Why a command was stopped whose sandbox had a hole. */
export function uncoveredNote(path: string): string {
  return `The command was stopped: ${path} was replaced while it ran, so that the sandbox did not close it any more.`
}

function seconds({ durationMs }: CommandResult): string {
  return `${(durationMs / 1000).toFixed(1)} s`
}
