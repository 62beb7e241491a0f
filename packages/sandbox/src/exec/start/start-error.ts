import { stat } from 'node:fs/promises'
import { resourceError, ToolError } from '@tool-hub/core'
import { quotePath } from '../../files/file-error.ts'
import type { CommandLaunch } from './shell-scripts.ts'

const DOCTOR = 'Run tool-hub doctor to see what the sandbox needs on this machine.'

/** Why a command did not start, or why its end is not known. */
export interface StartFailure {
  /** `refused` by the shell inside the sandbox, `broken` sandbox, `lost` with the spawner. */
  readonly kind: 'refused' | 'broken' | 'lost'
  readonly reason: string
  /** What the shell wrote to its standard error. */
  readonly stderr: string
  /** The error that was thrown in this process. */
  readonly cause?: unknown
}

/** The error for a command that did not start. */
export async function startError(
  { kind, reason, stderr, cause }: StartFailure,
  request: CommandLaunch,
): Promise<ToolError> {
  if (kind === 'lost') return resourceError(cause, 'The command was ended') ?? lostError(reason)
  if (kind === 'refused') return refusal(reason, stderr, request)
  const exhausted = resourceError(cause, 'The sandbox did not start')
  if (exhausted) return exhausted
  // A missing folder breaks the sandbox that was to show it.
  if (!(await isFolder(request.cwd))) return noFolder(request.cwd)
  const [line = ''] = reason.split('\n')
  return new ToolError('SANDBOX_UNAVAILABLE', `The sandbox did not start: ${line}`, {
    hint: DOCTOR,
    details: { program: request.sandbox.file, said: reason },
  })
}

/** The error for a command whose spawner has died. */
export function lostError(how: string): ToolError {
  return new ToolError('EXEC_FAILED', 'The command was lost: the process that starts commands has ended.', {
    hint: 'Check what the command has done so far, then run it again.',
    details: { how },
  })
}

function refusal(reason: string, stderr: string, request: CommandLaunch): ToolError {
  const program = request.words[0] ?? ''
  const name = quotePath(program)
  if (reason === 'cwd') return noFolder(request.cwd)
  if (reason === 'missing') return notFound(program, request)
  if (reason === 'directory') return failed(`${name} is a directory.`)
  if (reason === 'denied') return failed(`${name} is not executable.`, 'Make it executable, or run its interpreter.')
  if (reason === 'no-terminal') return noTerminal()
  const message = stderr.trim().split(': ').at(-1) ?? ''
  if (reason === 'exec 127' && !program.includes('/')) return notFound(program, request)
  if (reason === 'exec 127') {
    return failed(`${name} cannot be run: its interpreter does not exist in the sandbox.`, 'Look at its first line.')
  }
  return failed(`${name} cannot be run: ${message || reason}.`)
}

function notFound(program: string, { env, sandbox }: CommandLaunch): ToolError {
  const path = env.PATH ?? sandbox.env.PATH ?? ''
  const shown = sandbox.level === 'none' ? '' : ' The sandbox shows only /usr and the granted folders.'
  const where = program.includes('/') ? '' : `Searched in ${path || 'no folder'}.`
  return new ToolError('NOT_FOUND', `program not found: ${quotePath(program)}`, { hint: `${where}${shown}`.trim() })
}

function noFolder(cwd: string): ToolError {
  return new ToolError('NOT_FOUND', `The folder to run in does not exist: ${quotePath(cwd)}`, {
    hint: 'It may have been deleted. Choose another cwd.',
  })
}

function noTerminal(): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    'A terminal needs the program script, which is not installed on this machine.',
    {
      hint: 'Install util-linux (on Debian bsdutils), or run the command without pty.',
    },
  )
}

function failed(message: string, hint?: string): ToolError {
  return new ToolError('EXEC_FAILED', message, { hint })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // Whatever the reason, a command cannot run there.
    return false
  }
}
