import type { ProgramFence, ProgramRequest } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'

/** A request of which nothing is missing, and which nobody else holds. */
export interface CheckedProgram {
  /** Never empty. */
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly fence?: Required<ProgramFence>
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Copies what is asked for and refuses what no program can be given; values of variables are never told. */
export function checkProgram({ argv, cwd, env = {}, fence }: ProgramRequest): CheckedProgram {
  if (!Array.isArray(argv) || !argv[0]) throw invalid('A program to start has no name.')
  if (!argv.every(isText)) throw invalid(`A word of ${JSON.stringify(argv[0])} is not text without NUL.`)
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name)) throw invalid(`${JSON.stringify(name)} is no name for a variable.`)
    if (!isText(value)) throw invalid(`The value of ${name} is not text without NUL.`)
  }
  if (cwd !== undefined && !isText(cwd)) throw invalid('The folder to run in is not text without NUL.')
  const { readable = [], writable = [], hosts = [] } = fence ?? {}
  return {
    argv: [...argv],
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
    ...(fence && { fence: { readable: [...readable], writable: [...writable], hosts: [...hosts] } }),
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0')
}

function invalid(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, {
    hint: 'Correct the command, args, cwd or env of the program in tool-hub.yaml.',
  })
}
