import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isWithin } from '../../is-within.ts'

/** What lies at the top of a package of Node, or of an environment of Python. */
const MARKS = ['package.json', 'pyvenv.cfg']
const MODULES = '/node_modules'

/**
 * The folder that a program was installed in with all that it loads: the outermost node_modules around it, since
 * packages find each other there, else the nearest that is marked as one. Never the home or a folder around it.
 */
export async function packageFolder(path: string, home: string = homedir()): Promise<string | undefined> {
  const modules = path.indexOf(`${MODULES}/`)
  if (modules !== -1) return path.slice(0, modules + MODULES.length)
  for (let folder = dirname(path); !isWithin(folder, home) && folder !== '/'; folder = dirname(folder)) {
    for (const mark of MARKS) if (await exists(join(folder, mark))) return folder
  }
  return undefined
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
