import { stat } from 'node:fs/promises'
import { resourceError } from '../../../disk/resource-error.ts'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'
import type { StartFailure } from './open-jail.ts'
import type { StartOrder } from './started.ts'

const DOCTOR = 'Run tool-hub doctor: it says what the sandbox needs on this machine.'

/** Why a command did not start, as its caller reads it. */
export async function startError({ kind, reason, words, cause }: StartFailure, order: StartOrder): Promise<ToolError> {
  if (kind === 'lost') return lostError(reason)
  if (kind === 'refused') return refusal(reason, words, order)
  const exhausted = resourceError(cause, 'The sandbox did not start')
  if (exhausted) return exhausted
  // A folder that has gone breaks the jail that was to show it.
  if (!(await isFolder(order.cwd))) return noFolder(order.cwd)
  const [line = ''] = reason.split('\n')
  return new ToolError('SANDBOX_UNAVAILABLE', `The sandbox did not start: ${line}`, {
    hint: DOCTOR,
    details: { program: order.jail.file, said: reason },
  })
}

/** A command whose spawner has died under it. */
export function lostError(how: string): ToolError {
  return new ToolError('EXEC_FAILED', 'The command was lost: the process that starts commands has ended.', {
    hint: 'Look at what the command has done so far, then run it again.',
    details: { how },
  })
}

function refusal(reason: string, words: string, order: StartOrder): ToolError {
  const program = order.words[0] ?? ''
  const name = quotePath(program)
  if (reason === 'cwd') return noFolder(order.cwd)
  if (reason === 'missing') return notFound(program, order)
  if (reason === 'directory') return failed(`${name} is a directory.`)
  if (reason === 'denied') return failed(`${name} is not executable.`, 'Make it executable, or run its interpreter.')
  if (reason === 'no-terminal') return noTerminal()
  const said = words.trim().split(': ').at(-1) ?? ''
  if (reason === 'exec 127' && !program.includes('/')) return notFound(program, order)
  if (reason === 'exec 127') {
    return failed(`${name} cannot be run: its interpreter does not exist in the sandbox.`, 'Look at its first line.')
  }
  return failed(`${name} cannot be run: ${said || reason}.`)
}

function notFound(program: string, { env, jail }: StartOrder): ToolError {
  const path = env.PATH ?? jail.env.PATH ?? ''
  const seen = jail.level === 'none' ? '' : ' The sandbox shows only /usr and the folders that were granted.'
  const where = program.includes('/') ? '' : `It was looked for in ${path || 'no folder'}.`
  return new ToolError('NOT_FOUND', `program not found: ${quotePath(program)}`, { hint: `${where}${seen}`.trim() })
}

function noFolder(cwd: string): ToolError {
  return new ToolError('NOT_FOUND', `The folder to run in does not exist: ${quotePath(cwd)}`, {
    hint: 'It may have been deleted meanwhile. Choose another cwd.',
  })
}

function noTerminal(): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', 'A terminal needs the program script, which this machine has not.', {
    hint: 'Install util-linux (on Debian bsdutils), or run the command without pty.',
  })
}

function failed(message: string, hint?: string): ToolError {
  return new ToolError('EXEC_FAILED', message, { hint })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // Whatever keeps us from it, a command cannot run there.
    return false
  }
}
