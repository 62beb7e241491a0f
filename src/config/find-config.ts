import { lstat, stat } from 'node:fs/promises'
import path from 'node:path'
import { errnoOf } from '../errno.ts'
import { configError } from './problem.ts'

/** The names a config may have. */
export const CONFIG_NAMES = ['yaml', 'yml', 'json5', 'jsonc', 'json', 'mjs'].map((kind) => `tool-hub.${kind}`)

/** The config of the nearest folder from `cwd` upwards; nothing when there is none up to the root. */
export async function findConfig(cwd: string): Promise<string | undefined> {
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    const found = await configsIn(folder)
    if (found.length > 1) {
      throw configError(folder, [{ message: `holds ${found.join(' and ')}: which one counts is not clear.` }], {
        hint: 'Keep one of them, or name it with --config.',
      })
    }
    if (found[0] !== undefined) return trusted(folder, found[0])
    if (folder === path.dirname(folder)) return undefined
  }
}

async function configsIn(folder: string): Promise<string[]> {
  const present = await Promise.all(CONFIG_NAMES.map((name) => isThere(path.join(folder, name))))
  return CONFIG_NAMES.filter((_, index) => present[index])
}

/** Also a broken link is there: it must be told, not passed over for a config further up. */
async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch (cause) {
    const code = errnoOf(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw configError(file, [{ message: `cannot be looked for (${code}).` }], { cause })
  }
}

/** In a folder where anybody may write (such as /tmp) a stranger's config would be the stranger's code and rules. */
async function trusted(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name)
  const [{ mode }, { uid }] = await Promise.all([stat(folder), lstat(file)])
  const isOurs = process.getuid === undefined || uid === process.getuid() || uid === 0
  if (isOurs || (mode & 0o002) === 0) return file
  throw configError(file, [{ message: 'belongs to another user and lies in a folder where anybody may write.' }], {
    hint: `If you trust it, name it: --config ${file}.`,
  })
}
