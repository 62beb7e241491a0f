import { lstat, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { configError } from '../core/document/problem.ts'
import type { ToolError } from '../core/errors.ts'
import { errnoOf } from '../lib/errno.ts'
import { distrust } from '../lib/owned-by-us.ts'

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

/**
 * A config is code and rules, and nobody chose this one: it only lies on the way. So no other user may have written
 * it, nor be able to put another in its place. For a link that holds of where it leads, too.
 */
async function trusted(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name)
  await assertTrusted(file, folder)
  const real = await realpath(file).catch((cause) => {
    // A broken link: reading it will say so.
    if (errnoOf(cause) === 'ENOENT') return file
    throw configError(file, [{ message: `leads nowhere (${errnoOf(cause)}).` }], { cause })
  })
  if (real !== file) await assertTrusted(file, path.dirname(real), real)
  return file
}

async function assertTrusted(file: string, folder: string, real: string = file): Promise<void> {
  const stats = await lstat(real)
  // The mode of a link says nothing; who may change it is up to its folder.
  const mode = stats.isSymbolicLink() ? 0 : stats.mode
  const found = distrust({ uid: stats.uid, gid: stats.gid, mode })
  if (found) throw foreign(file, found.why, `${found.command} ${real}`)
  const around = distrust(await stat(folder))
  if (around) throw foreign(file, `lies in ${folder}, which ${around.why}`, `${around.command} ${folder}`)
}

function foreign(file: string, why: string, command: string): ToolError {
  return configError(file, [{ message: `${why}.` }], {
    hint: `If you trust it, name it: --config ${file}. To have it found: ${command}.`,
  })
}
