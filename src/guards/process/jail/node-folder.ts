import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What an installation of Node consists of; a folder with anything else in it is more than that. */
const PARTS = new Set(['bin', 'lib', 'include', 'share', 'etc', 'CHANGELOG.md', 'LICENSE', 'README.md'])

/**
 * The folder that the hub's own Node is installed in, where commands should find `node` and `npm` too: the folder of a
 * version manager. Undefined below /usr, which every jail sees, and where the folder holds more than Node (then the
 * owner names it in sandbox.commands.readable, or not).
 */
export function nodeFolder(executable: string = process.execPath): string | undefined {
  if (!known.has(executable)) known.set(executable, find(executable))
  return known.get(executable)
}

const known = new Map<string, string | undefined>()

function find(executable: string): string | undefined {
  const real = realpathSync.native(executable)
  const folder = dirname(dirname(real))
  if (real.startsWith('/usr/') || real !== join(folder, 'bin/node')) return undefined
  if (!existsSync(join(folder, 'lib/node_modules'))) return undefined
  return readdirSync(folder).every((name) => PARTS.has(name)) ? folder : undefined
}
