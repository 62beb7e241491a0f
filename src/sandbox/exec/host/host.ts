import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ToolError } from '../../../core/index.ts'
import { errnoOf } from '../../../lib/index.ts'

const PREFIX = 'tool-hub-sandbox-'
let made: string | undefined

/** A folder that only this user can write and others may read. Removed when this process exits, or by the next hub. */
export function privateFolder(): string {
  if (made !== undefined && existsSync(made)) return made
  const parent = runtimeFolder()
  removeStaleFolders(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  made = folder
  return folder
}

/** Preferably not the folder for temporary files, where the system deletes files that nobody reads for days. */
function runtimeFolder(): string {
  const uid = process.geteuid?.()
  const candidates = uid === 0 ? ['/run'] : [`/run/user/${uid}`]
  return candidates.find((path) => isOurs(path, uid)) ?? tmpdir()
}

function isOurs(path: string, uid: number | undefined): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory() || stats.uid !== uid || (stats.mode & 0o022) !== 0) return false
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // Mounted read-only, as in some containers.
    return false
  }
}

/** Removes the folders of hubs that were killed. */
function removeStaleFolders(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!isLeftBehind(name, PREFIX)) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // It belongs to another user, who will remove it.
    }
  }
}

/** Whether a name of the form `PREFIX<pid>-…` belongs to a process that no longer runs. */
export function isLeftBehind(name: string, prefix: string): boolean {
  const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
  if (Number.isNaN(pid)) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return errnoOf(error) === 'ESRCH'
  }
}

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
