import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { etcFolder } from './etc-folder.ts'
import type { JailOwner } from './jail-owner.ts'
import type { Mount } from './mount.ts'

const TOP = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

/** Settings for all of a machine lie here, among them npm's, with its tokens. */
const SETTINGS_IN_USR = ['/usr/etc', '/usr/local/etc']

/** The system as every jail sees it: programs and libraries, read-only, and the little of /etc that they need. */
export function systemMounts(owner: JailOwner): Mount[] {
  // Looked at once: an installed system stays where it is.
  programs ??= findPrograms()
  const etc = etcFolder(owner)
  return [
    ...programs,
    { kind: 'read', from: etc.path, to: '/etc' },
    ...etc.bound.map((path) => ({ kind: 'read', from: path, to: path }) as const),
  ]
}

let programs: readonly Mount[] | undefined

function findPrograms(): Mount[] {
  const mounts: Mount[] = [{ kind: 'read', from: '/usr', to: '/usr' }]
  for (const name of TOP) {
    const mount = sameInJail(`/${name}`)
    if (mount) mounts.push(mount)
  }
  for (const path of SETTINGS_IN_USR) {
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    if (isFolder && readdirSync(path).length > 0) mounts.push({ kind: 'hideFolder', to: path })
  }
  return mounts
}

/** A link stays the same link where it leads into /usr; else what it leads to is bound in its place. */
function sameInJail(path: string): Mount | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return undefined
  if (!found.isSymbolicLink()) return { kind: 'read', from: path, to: path }
  if (!existsSync(path)) return undefined
  const real = realpathSync.native(path)
  return real.startsWith('/usr/')
    ? { kind: 'link', target: readlinkSync(path), to: path }
    : { kind: 'read', from: real, to: path }
}

const SHARED_MEMORY_BYTES = 64 * 1024 ** 2

/** Memory in which a command may write: temporary files, its home in /run, and what programs share. */
export function memoryMounts(memoryBytes: number): Mount[] {
  const bytes = Math.min(512 * 1024 ** 2, Math.max(1024 ** 2, Math.floor(memoryBytes / 4)))
  return [
    { kind: 'memory', to: '/tmp', bytes, mode: '1777' },
    { kind: 'memory', to: '/run', bytes, mode: '0755' },
    { kind: 'memory', to: '/dev/shm', bytes: Math.min(bytes, SHARED_MEMORY_BYTES), mode: '1777' },
  ]
}
