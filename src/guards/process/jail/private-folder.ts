import { accessSync, chmodSync, constants, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'

const PREFIX = 'tool-hub-jail-'
let made: string | undefined

/** A folder that only this user writes to and others may read; it ends with this process, or is swept by the next. */
export function privateFolder(): string {
  if (made !== undefined && existsSync(made)) return made
  const above = runtimeFolder()
  sweep(above)
  const folder = mkdtempSync(join(above, `${PREFIX}${process.pid}-`))
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  made = folder
  return folder
}

/** Not the folder for temporary files, if it can be helped: what nobody reads for days is cleared away there. */
function runtimeFolder(): string {
  const uid = process.geteuid?.()
  const candidates = uid === 0 ? ['/run'] : [`/run/user/${uid}`]
  return candidates.find((path) => isOurs(path, uid)) ?? tmpdir()
}

function isOurs(path: string, uid: number | undefined): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) return false
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // Mounted read-only, as in some containers.
    return false
  }
}

/** Takes away what hubs that were killed have left. */
function sweep(above: string): void {
  for (const name of readdirSync(above)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
    if (Number.isNaN(pid) || isRunning(pid)) continue
    try {
      rmSync(join(above, name), { recursive: true, force: true })
    } catch {
      // Another user's: theirs to sweep.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ESRCH'
  }
}
