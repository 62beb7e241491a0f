import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { ToolError } from '../../../core/index.ts'
import { errnoOf } from '../../../lib/index.ts'
import { statsIfThere } from '../../../system/index.ts'
import { nodeFolder } from '../host/host.ts'
import { canEnter, type Mount, type SandboxSpec, type SandboxUser } from './sandbox.ts'

/** The mounts that follow from what the owner grants. */
export interface GrantedMounts {
  /** Outermost first: a later mount covers an earlier one. */
  readonly mounts: readonly Mount[]
  /** Those inside a writable folder, where a running command could replace the source. */
  readonly inside: ReadonlySet<Mount>
  /** Paths of the mounts that hide or protect something. */
  readonly closed: readonly string[]
  /** Named, but not granted or closed: missing, a link, or out of reach for the sandbox's user. */
  readonly leftOut: ReadonlyArray<{ readonly path: string; readonly why: string }>
}

type Access = 'write' | 'read' | 'protect' | 'hide'

/** Computes the mounts. The deepest path decides; for the same path, the stricter access. */
export function grantedMounts(spec: SandboxSpec, user: SandboxUser): GrantedMounts {
  const accesses = accessByPath(spec)
  const leftOut: { path: string; why: string }[] = []
  const mounts = new Map<string, Mount>()
  const inside = new Set<Mount>()
  const closed: string[] = []
  const add = (mount: Mount, isInside: boolean) => {
    mounts.set(mount.to, mount)
    if (isInside) inside.add(mount)
  }
  for (const path of [...accesses.keys()].toSorted(byDepth)) {
    const access = accesses.get(path)!
    const parent = enclosingMount(mounts, path)
    const isClosing = access === 'protect' || access === 'hide'
    // Outside of every grant there is nothing to close, and in a read-only or hidden folder nothing to protect.
    if (isClosing && (!parent || parent.kind === 'hideFolder')) continue
    if (access === 'protect' && parent?.kind === 'read') continue
    const found = inspectOrRefuse(path, access, user)
    if ('why' in found) {
      leftOut.push({ path, why: found.why })
      continue
    }
    const isInside = parent?.kind === 'write'
    if (isInside) for (const pin of pinnedFolders(parent.to, path, mounts)) add(pin, true)
    add(mountFor(path, access, found.kind), isInside)
    if (isClosing) closed.push(path)
  }
  // A folder that was pinned late must still come before the paths that are closed in it.
  return { mounts: [...mounts.values()].toSorted((a, b) => byDepth(a.to, b.to)), inside, closed, leftOut }
}

function accessByPath(spec: SandboxSpec): Map<string, Access> {
  const accesses = new Map<string, Access>()
  const set = (paths: readonly string[], access: Access) => {
    for (const path of paths) accesses.set(path, access)
  }
  const rootsOf = (mode: 'read' | 'write') => spec.roots.filter((root) => root.mode === mode).map(({ path }) => path)
  const node = nodeFolder()
  if (node) {
    set([node], 'read')
    set([`${node}/etc`], 'hide')
  }
  set(spec.readable, 'read')
  set(rootsOf('read'), 'read')
  set(rootsOf('write'), 'write')
  set(spec.writable, 'write')
  for (const path of accesses.keys()) refuseSystemFolder(path)
  set(spec.protect, 'protect')
  set(spec.hide, 'hide')
  return accesses
}

const SYSTEM_FOLDERS = new Set('/ /usr /bin /sbin /lib /lib64 /etc /run /dev /proc /sys'.split(' '))
const KERNEL_FOLDER = /^\/(proc|sys|dev)\//

/** A workspace that is the system itself would undo the sandbox. */
function refuseSystemFolder(path: string): void {
  if (!SYSTEM_FOLDERS.has(path) && !KERNEL_FOLDER.test(path)) return
  throw new ToolError(
    'CONFIG_INVALID',
    `${path} is part of the system and cannot be granted to a sandbox as a whole.`,
    {
      hint: 'Name a folder below it in sandbox.roots, sandbox.commands.readable or sandbox.commands.writable.',
    },
  )
}

function byDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1)
}

function enclosingMount(mounts: ReadonlyMap<string, Mount>, path: string): Mount | undefined {
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    const mount = mounts.get(folder)
    if (mount) return mount
  }
  return undefined
}

type Kind = 'folder' | 'file' | 'noHooks'
type Inspection = { readonly kind: Kind } | { readonly why: string }

/** A running command may have closed a folder along the path, and can open it again: then the content is unknown. */
function inspectOrRefuse(path: string, access: Access, user: SandboxUser): Inspection {
  try {
    return inspect(path, access, user)
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    throw new ToolError('SANDBOX_UNAVAILABLE', `${path} cannot be inspected: a folder above it is closed.`, {
      hint: 'End background commands that change its mode, or make it readable for the user of the hub.',
      cause: error,
    })
  }
}

/** What the path is, or why it is left out. */
function inspect(path: string, access: Access, user: SandboxUser): Inspection {
  const stats = statsIfThere(path)
  if (!stats) return isMissingHooks(path, access) ? { kind: 'noHooks' } : { why: 'does not exist' }
  if (stats.isSymbolicLink()) return { why: 'is a link' }
  // A folder along the path may be a link that a command created: its target was never granted.
  if (access !== 'hide' && realpathSync.native(path) !== path) return { why: 'leads through a link' }
  if (user.isOther && !canEnter(dirname(path), user)) return { why: `is out of reach for user ${user.uid}` }
  return { kind: stats.isDirectory() ? 'folder' : 'file' }
}

/** Git would run what a command puts there. An empty folder in its place does no harm; elsewhere it would be litter. */
function isMissingHooks(path: string, access: Access): boolean {
  if (access !== 'protect' || basename(path) !== 'hooks') return false
  const folder = dirname(path)
  return basename(folder) === '.git' && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
}

function mountFor(path: string, access: Access, kind: Kind): Mount {
  if (kind === 'noHooks') return { kind: 'hideFolder', to: path }
  if (access === 'hide') return { kind: kind === 'folder' ? 'hideFolder' : 'hideFile', to: path }
  return { kind: access === 'write' ? 'write' : 'read', from: path, to: path }
}

/**
 * A mounted folder cannot be renamed, but the folders above it can, and another be put in their place: so they are
 * mounted over themselves. A mount that hides a file moves along with its folder in this sandbox, but the next sandbox
 * would look for the file under its old name, hide nothing there and show it under its new one.
 */
function pinnedFolders(writable: string, path: string, mounts: ReadonlyMap<string, Mount>): Mount[] {
  const found: Mount[] = []
  for (let folder = dirname(path); folder !== writable; folder = dirname(folder)) {
    if (!mounts.has(folder)) found.unshift({ kind: 'write', from: folder, to: folder })
  }
  return found
}
