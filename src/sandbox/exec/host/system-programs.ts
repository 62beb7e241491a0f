import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../../core/index.ts'

/** Where the programs that create a sandbox are looked up: never in the hub's PATH, which others may have set. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
const found = new Map<string, string>()

/** The absolute path of a system program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const known = found.get(name)
  if (known) return known
  const path = FOLDERS.map((folder) => `${folder}/${name}`).find(canRun)
  if (path) found.set(name, path)
  return path
}

/** The absolute path of a program that the sandbox cannot do without. */
export function needProgram(name: string, aptPackage: string): string {
  const path = findProgram(name)
  if (path) return path
  throw new ToolError('SANDBOX_UNAVAILABLE', `${name} is not installed; the sandbox needs it.`, {
    hint: `Install it (apt install ${aptPackage}), then start the hub again.`,
  })
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Missing or not executable: the next folder may have it.
    return false
  }
}

/** What a Node installation consists of; a folder that contains anything else is not only Node. */
const NODE_PARTS = new Set(['bin', 'lib', 'include', 'share', 'etc', 'CHANGELOG.md', 'LICENSE', 'README.md'])
const nodeFolders = new Map<string, string | undefined>()

/**
 * The folder in which the hub's own Node is installed, such as a version manager's, so that commands find `node` and
 * `npm` too. Undefined below /usr, which every sandbox shows, and where the folder contains more than Node (the owner
 * can then name it in sandbox.commands.readable).
 */
export function nodeFolder(executable: string = process.execPath): string | undefined {
  if (!nodeFolders.has(executable)) nodeFolders.set(executable, findNodeFolder(executable))
  return nodeFolders.get(executable)
}

function findNodeFolder(executable: string): string | undefined {
  const real = realpathSync.native(executable)
  const folder = dirname(dirname(real))
  if (real.startsWith('/usr/') || real !== join(folder, 'bin/node')) return undefined
  if (!existsSync(join(folder, 'lib/node_modules'))) return undefined
  return readdirSync(folder).every((name) => NODE_PARTS.has(name)) ? folder : undefined
}
