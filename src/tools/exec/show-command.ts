import type { CommandResult } from './command-result.ts'

/** For a coding model: the output, then what it cannot know from it. */
export function showCommand(result: CommandResult): string {
  return [cutNote(result), result.tail.replace(/\n$/, ''), endNote(result)].filter((part) => part !== '').join('\n')
}

/** S2's form: the output, after `Exit code: N` when the command failed. */
export function showShell(result: CommandResult): string {
  const body = [cutNote(result), result.tail].filter((part) => part !== '').join('\n')
  if (result.overuse !== undefined) return `${result.overuse}\n${body}`
  if (result.uncovered !== undefined) return `${uncoveredNote(result.uncovered)}\n${body}`
  if (result.timedOut) return `Timed out after ${seconds(result)}\n${body}`
  if (result.signal !== undefined) return `Killed by ${result.signal}\n${body}`
  return result.exitCode === 0 ? body : `Exit code: ${result.exitCode}\n${body}`
}

/** Says that there is more, and where. */
export function cutNote({ bytes, tail, artifact, sessionId, stdout, stderr }: CommandResult): string {
  const isWhole = artifact === undefined && Buffer.byteLength(tail) >= Buffer.byteLength(stdout + stderr)
  if (isWhole) return ''
  const where = artifact ?? (sessionId === undefined ? undefined : `process log of ${sessionId}`)
  return `[the end of ${bytes} bytes of output${where === undefined ? '' : `; all of it: ${where}`}]`
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
