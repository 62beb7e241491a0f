import { accessSync, constants } from 'node:fs'
import { ToolError } from '../../../errors.ts'

/** Where the programs that make a jail are looked for: never in the PATH of the hub, which others may have set. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

const found = new Map<string, string>()

/** The absolute path of a program of the system; undefined when it is not installed. */
export function findProgram(name: string): string | undefined {
  const known = found.get(name)
  if (known) return known
  const path = FOLDERS.map((folder) => `${folder}/${name}`).find(canRun)
  if (path) found.set(name, path)
  return path
}

/** The same, where there is no jail without it. */
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
    // Missing or not ours to run: the next folder may have it.
    return false
  }
}
