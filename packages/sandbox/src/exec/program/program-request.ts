import { access, constants, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type Clock,
  type CommandLimits,
  type ProgramAccess,
  type ProgramRequest,
  type SandboxLevel,
  ToolError,
} from '@tool-hub/core'
import { quotePath } from '../../files/file-error.ts'
import type { OpenedProxy, ProxySettings } from '../../network/proxy/open-proxy.ts'

/** What applies to every program: the machine, and the owner's settings. */
export interface ProgramSettings {
  readonly limits: CommandLimits
  /** A weaker sandbox than the machine supports, if the owner wants that. */
  readonly level?: SandboxLevel
  /** `false` if the owner permits programs that this machine cannot sandbox. */
  readonly isSandboxRequired: boolean
  /** Folders that no sandboxed program sees: records, grants. */
  readonly hidden: readonly string[]
  /** Real paths that no sandboxed program changes, in addition to protected names. */
  readonly protect: readonly string[]
  /** Where the state of protected places is recorded while programs run. */
  readonly ledgerFolder?: string
  readonly clock: Clock
  /** Opens a proxy to the named hosts through the network guard. */
  readonly openProxy: (hosts: readonly string[], settings?: ProxySettings) => Promise<OpenedProxy>
}

/** A complete request of which nobody else holds a reference. */
export interface CheckedProgram {
  /** Never empty. */
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly access?: Required<ProgramAccess>
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Copies a request and refuses what no program can receive. Values of variables never appear in an error. */
export function checkProgram({ argv, cwd, env = {}, access }: ProgramRequest): CheckedProgram {
  if (!Array.isArray(argv) || !argv[0]) throw invalid('A program to start has no name.')
  if (!argv.every(isText)) throw invalid(`A word of ${JSON.stringify(argv[0])} is not text without NUL.`)
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name)) throw invalid(`Invalid name of a variable: ${JSON.stringify(name)}.`)
    if (!isText(value)) throw invalid(`The value of ${name} is not text without NUL.`)
  }
  if (cwd !== undefined && !isText(cwd)) throw invalid('The folder to run in is not text without NUL.')
  const { readable = [], writable = [], hosts = [] } = access ?? {}
  return {
    argv: [...argv],
    env: { ...env },
    cwd,
    access: access && { readable: [...readable], writable: [...writable], hosts: [...hosts] },
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

/** The real path of a folder to run in. */
export async function realFolder(path: string): Promise<string> {
  const real = await realpath(resolve(path)).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined)
  if (real !== undefined && found?.isDirectory()) return real
  const problem = found ? 'is not a folder' : 'does not exist'
  throw new ToolError('NOT_FOUND', `The folder to run in ${problem}: ${quotePath(path)}`, {
    hint: 'Create it, or correct cwd.',
  })
}

/** A program that exists and may be run. */
export interface Executable {
  /** Under the name by which it was found, in a real folder: some programs look for files next to that name. */
  readonly path: string
  /** The target of all links. */
  readonly real: string
}

/** Looks up a program as a shell would: by its name in PATH, or relative to `cwd` if it contains a slash. */
export async function findExecutable(
  name: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<Executable> {
  const isPath = name.includes('/')
  const candidates = isPath
    ? [resolve(cwd, name)]
    : path.split(':').flatMap((folder) => (folder.startsWith('/') ? [join(folder, name)] : []))
  let problem: string | undefined
  for (const candidate of candidates) {
    const found = await inspectExecutable(candidate)
    if (typeof found === 'object') return found
    problem ??= found
  }
  const hint = `Install it, or name its full path.${isPath ? '' : ' It was searched in the folders of PATH.'}`
  if (problem === undefined) throw new ToolError('NOT_FOUND', `program not found: ${quotePath(name)}`, { hint })
  throw new ToolError('EXEC_FAILED', `${quotePath(name)} cannot be run: it ${problem}.`, { hint })
}

/** Undefined if nothing is there; a text says why it cannot be run. */
async function inspectExecutable(path: string): Promise<Executable | string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return undefined
  if (!found.isFile()) return 'is not a file'
  const isExecutable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isExecutable) return 'is not executable'
  return { path: join(await realpath(dirname(path)), basename(path)), real: await realpath(path) }
}
