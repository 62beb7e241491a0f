import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { statsIfThere } from '../../../disk/stats-if-there.ts'
import { ToolError } from '../../../errors.ts'
import type { JailSpec } from './jail.ts'
import { canEnter, type JailOwner } from './jail-owner.ts'
import type { Mount } from './mount.ts'
import { nodeFolder } from './node-folder.ts'

/** What a jail's owner lets in. */
export interface Grants {
  /** Outermost first: what is mounted later covers what was before. */
  readonly mounts: readonly Mount[]
  /** Of these, the ones inside a writable folder, where a command that runs already could swap the source. */
  readonly inside: ReadonlySet<Mount>
  /** Where the mounts are that hide something, or that keep something from being changed. */
  readonly closed: readonly string[]
  /** Named, but not let in or not closed: missing, a link, or out of reach for the user of the jail. */
  readonly leftOut: ReadonlyArray<{ readonly path: string; readonly why: string }>
}

type Wish = 'write' | 'read' | 'protect' | 'hide'

/** The deepest path decides; at the same path, what is stricter. */
export function grantedMounts(spec: JailSpec, owner: JailOwner): Grants {
  const wishes = collect(spec)
  const leftOut: { path: string; why: string }[] = []
  const mounts = new Map<string, Mount>()
  const inside = new Set<Mount>()
  const closed: string[] = []
  const add = (mount: Mount, isInside: boolean) => {
    mounts.set(mount.to, mount)
    if (isInside) inside.add(mount)
  }
  for (const path of [...wishes.keys()].toSorted(byDepth)) {
    const wish = wishes.get(path)!
    const around = enclosing(mounts, path)
    const isClosing = wish === 'protect' || wish === 'hide'
    // Outside of everything there is nothing to close, and in what is read-only or hidden nothing to protect.
    if (isClosing && (!around || around.kind === 'hideFolder')) continue
    if (wish === 'protect' && around?.kind === 'read') continue
    const found = lookOrRefuse(path, wish, owner)
    if ('why' in found) {
      leftOut.push({ path, why: found.why })
      continue
    }
    const isInside = around?.kind === 'write'
    if (isInside) for (const pin of pins(around.to, path, mounts)) add(pin, true)
    add(mountFor(path, wish, found.kind), isInside)
    if (isClosing) closed.push(path)
  }
  // A folder that was pinned late must still come before what is closed in it.
  return { mounts: [...mounts.values()].toSorted((a, b) => byDepth(a.to, b.to)), inside, closed, leftOut }
}

function collect(spec: JailSpec): Map<string, Wish> {
  const wishes = new Map<string, Wish>()
  const say = (paths: readonly string[], wish: Wish) => {
    for (const path of paths) wishes.set(path, wish)
  }
  const node = nodeFolder()
  if (node) {
    say([node], 'read')
    say([`${node}/etc`], 'hide')
  }
  say(spec.readable, 'read')
  for (const mode of ['read', 'write'] as const)
    say(
      spec.roots.filter((root) => root.mode === mode).map((root) => root.path),
      mode,
    )
  say(spec.writable, 'write')
  for (const path of wishes.keys()) refuseSystem(path)
  say(spec.protect, 'protect')
  say(spec.hide, 'hide')
  return wishes
}

const SYSTEM_FOLDERS = new Set([
  '/',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/etc',
  '/run',
  '/dev',
  '/proc',
  '/sys',
])
const KERNEL_FOLDER = /^\/(proc|sys|dev)\//

/** A workspace that is the system itself would undo the jail. */
function refuseSystem(path: string): void {
  if (!SYSTEM_FOLDERS.has(path) && !KERNEL_FOLDER.test(path)) return
  throw new ToolError('CONFIG_INVALID', `${path} is part of the system and cannot be let into a jail as a whole.`, {
    hint: 'Name a folder below it in sandbox.roots, sandbox.commands.readable or sandbox.commands.writable.',
  })
}

function byDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1)
}

function enclosing(mounts: ReadonlyMap<string, Mount>, path: string): Mount | undefined {
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    const mount = mounts.get(folder)
    if (mount) return mount
  }
  return undefined
}

type Kind = 'folder' | 'file' | 'noHooks'
type Found = { readonly kind: Kind } | { readonly why: string }

/** A command that runs may have closed a folder on the way, and can open it again: what is there is not known. */
function lookOrRefuse(path: string, wish: Wish, owner: JailOwner): Found {
  try {
    return look(path, wish, owner)
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    throw new ToolError('SANDBOX_UNAVAILABLE', `${path} cannot be looked at: a folder above it is closed.`, {
      hint: 'End background commands that change its mode, or make it readable for the user of the hub.',
      cause: error,
    })
  }
}

/** What is there, or why it is left out. */
function look(path: string, wish: Wish, owner: JailOwner): Found {
  const found = statsIfThere(path)
  if (!found) return isMissingHooks(path, wish) ? { kind: 'noHooks' } : { why: 'does not exist' }
  if (found.isSymbolicLink()) return { why: 'is a link' }
  // A folder on the way may be a link that a command made: what it leads to was never meant.
  if (wish !== 'hide' && realpathSync.native(path) !== path) return { why: 'leads through a link' }
  if (owner.isOther && !canEnter(dirname(path), owner)) return { why: `is out of reach for user ${owner.uid}` }
  return { kind: found.isDirectory() ? 'folder' : 'file' }
}

/** Git would run what a command puts there; an empty folder in its place harms nobody, elsewhere it would be litter. */
function isMissingHooks(path: string, wish: Wish): boolean {
  if (wish !== 'protect' || basename(path) !== 'hooks') return false
  const folder = dirname(path)
  return basename(folder) === '.git' && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
}

function mountFor(path: string, wish: Wish, kind: Kind): Mount {
  if (kind === 'noHooks') return { kind: 'hideFolder', to: path }
  if (wish === 'hide') return { kind: kind === 'folder' ? 'hideFolder' : 'hideFile', to: path }
  return { kind: wish === 'write' ? 'write' : 'read', from: path, to: path }
}

/**
 * A mounted folder cannot be renamed, but those above it can, and another put in their place: so they are mounted over
 * themselves. What hides a file moves along with its folder in this jail, but the next one would look for it by its old
 * name, hide nothing there and show it by its new one.
 */
function pins(writable: string, path: string, mounts: ReadonlyMap<string, Mount>): Mount[] {
  const found: Mount[] = []
  for (let folder = dirname(path); folder !== writable; folder = dirname(folder)) {
    if (!mounts.has(folder)) found.unshift({ kind: 'write', from: folder, to: folder })
  }
  return found
}
