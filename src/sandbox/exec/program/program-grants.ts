import { access, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type ProgramFence, ToolError } from '../../../core/index.ts'
import { errnoOf, isWithin } from '../../../lib/index.ts'
import { quotePath } from '../../files/file-error.ts'
import { nodeFolder } from '../host/system-programs.ts'
import { SANDBOX_HOME } from '../isolation/sandbox.ts'
import type { Executable } from './program-request.ts'

/** What is granted to the sandbox of a program; real paths. */
export interface ProgramGrants {
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Folders that come first in PATH. */
  readonly path: readonly string[]
}

/** Grants what the request names and what the program itself needs: its file, the package around it, and Node. */
export async function findGrants(
  executable: Executable,
  fence: Required<ProgramFence>,
  hidden: readonly string[],
): Promise<ProgramGrants> {
  const named = await Promise.all(fence.readable.map(realGrant))
  const writable = await Promise.all(fence.writable.map(realGrant))
  const node = await realpath(process.execPath)
  const isNodeVisible = isVisibleInSandbox(node, [])
  const own = await ownFolders(executable, [...named, ...writable])
  const readable = [...named, ...(isNodeVisible ? [] : [node]), ...own]
  for (const path of [...readable, ...writable]) refuseHidden(path, hidden)
  return { readable, writable, path: isNodeVisible ? [] : [dirname(node)] }
}

async function ownFolders({ path, real }: Executable, granted: readonly string[]): Promise<string[]> {
  const folders: string[] = []
  for (const place of new Set([path, real])) {
    if (isVisibleInSandbox(place, [...granted, ...folders])) continue
    const folder = await packageFolder(place)
    if (folder !== undefined) folders.push(folder)
    else if (place === real) folders.push(real)
  }
  return folders
}

async function realGrant(path: string): Promise<string> {
  try {
    return await realpath(resolve(path))
  } catch (error) {
    throw new ToolError('NOT_FOUND', `Cannot give a sandboxed program ${quotePath(path)}: ${errnoOf(error)}.`, {
      hint: 'Create it, or remove it from the readable and writable folders of the program.',
    })
  }
}

function refuseHidden(path: string, hidden: readonly string[]): void {
  const parent = hidden.find((folder) => isWithin(folder, path))
  if (parent === undefined) return
  throw new ToolError(
    'PATH_DENIED',
    `Cannot give a sandboxed program ${quotePath(path)}: the hub keeps its own files there.`,
    { hint: `Give it a folder outside of ${quotePath(parent)}.` },
  )
}

const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Whether a sandboxed program sees a real path: the system, Node, and what was granted. */
export function isVisibleInSandbox(path: string, granted: readonly string[]): boolean {
  const node = nodeFolder()
  return [...SYSTEM_FOLDERS, ...(node ? [node] : []), ...granted].some((folder) => isWithin(folder, path))
}

/** Marks the top folder of a Node package, or of a Python environment. */
const MARKER_FILES = ['package.json', 'pyvenv.cfg']
const MODULES = '/node_modules'

/**
 * The folder in which a program is installed with everything it loads: the outermost node_modules around it, since
 * packages find each other there, otherwise the nearest folder with a marker file. Never the home or a folder above it.
 */
export async function packageFolder(path: string, home: string = homedir()): Promise<string | undefined> {
  const modules = path.indexOf(`${MODULES}/`)
  if (modules !== -1) return path.slice(0, modules + MODULES.length)
  for (let folder = dirname(path); !isWithin(folder, home) && folder !== '/'; folder = dirname(folder)) {
    for (const name of MARKER_FILES) if (await exists(join(folder, name))) return folder
  }
  return undefined
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Every sandbox has these, whatever they are outside. */
const ALWAYS_VISIBLE = ['/', '/tmp', SANDBOX_HOME]

/** The folder in which a sandboxed program runs: the requested one, else the hub's, the first granted, or an empty home. */
export async function chooseFolder(requested: string | undefined, granted: readonly string[]): Promise<string> {
  if (requested !== undefined) {
    if (ALWAYS_VISIBLE.includes(requested) || isVisibleInSandbox(requested, granted)) return requested
    throw new ToolError(
      'PATH_OUTSIDE_SANDBOX',
      `A sandboxed program does not see its folder ${quotePath(requested)}.`,
      {
        hint: 'Add it to the readable or writable folders of the program, or leave cwd out.',
      },
    )
  }
  for (const path of isVisibleInSandbox(process.cwd(), granted) ? [process.cwd()] : granted) {
    if ((await stat(path)).isDirectory()) return path
  }
  return SANDBOX_HOME
}
