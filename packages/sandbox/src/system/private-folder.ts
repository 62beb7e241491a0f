import { accessSync, chmodSync, constants, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errnoOf } from '@tool-hub/core/lib'

const PREFIX = 'tool-hub-sandbox-'
let made: string | undefined

/** A folder that only this user can write and others may read. Removed when this process exits, or by the next hub. */
export function privateFolder(): string {
  if (made === undefined || !existsSync(made)) made = createPrivateFolder(runtimeFolder())
  return made
}

/** Creates another one inside a folder. */
export function createPrivateFolder(parent: string): string {
  removeStaleFolders(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Preferably not the folder for temporary files, where the system deletes files that nobody reads for days. */
function runtimeFolder(): string {
  const uid = process.geteuid?.()
  const candidates = uid === 0 ? ['/run'] : [`/run/user/${uid}`]
  return candidates.find((path) => isOurs(path, uid)) ?? tmpdir()
}

function isOurs(path: string, uid: number | undefined): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats?.isDirectory() || stats.uid !== uid || (stats.mode & 0o022) !== 0) return false
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // Mounted read-only, as in some containers, or hidden, as by ProtectHome of systemd.
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
