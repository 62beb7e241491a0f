import { closeSync, fstatSync, realpathSync, statSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { resourceError } from '../../disk/resource-error.ts'
import { ToolError } from '../../errors.ts'
import { fileAccess } from './access/choose-access.ts'
import { quotePath } from './quote-path.ts'
import { splitPath } from './split-path.ts'

/** A folder that tools may see, held open so that nobody can swap it. */
export interface Root {
  /** Its real path when it was opened. */
  readonly path: string
  /** Its path as the owner wrote it, made absolute. */
  readonly said: string
  readonly mode: 'read' | 'write'
  /** What is read here comes from outside. */
  readonly isUntrusted: boolean
  /** Relative paths that begin like this lead here. */
  readonly alias?: string
  /** It is the workspace of one run, which begins empty. */
  readonly isPrivate: boolean
  readonly descriptor: number
}

/** A root as the owner names it. */
export interface RootOptions {
  readonly path: string
  readonly mode: 'read' | 'write'
  readonly untrusted?: boolean
  /** `../name`: relative paths that begin like this lead here, too. */
  readonly alias?: string
  /** The workspace of one run. Default: a folder that the owner named. */
  readonly isPrivate?: boolean
}

/** Where a path leads: a root and the names below it, no `..` and, once walked, no links among them. */
export interface Target {
  readonly root: Root
  readonly names: readonly string[]
  /** The root's real path and the names. */
  readonly path: string
  readonly saysFolder: boolean
}

/** The roots of one guard. */
export interface Roots {
  /** The target of what a caller wrote, by text; PATH_OUTSIDE_SANDBOX when it passes a root. */
  locate(path: string): Target
  /** The target of a link's absolute destination. */
  locateLink(path: string, from: Target): Target
  close(): void
}

/** Opens every root; a relative path is relative to the first, the deepest root that holds a path decides its mode. */
export function openRoots(options: readonly RootOptions[]): Roots {
  if (process.platform === 'win32') throw onWindows()
  const roots: Root[] = []
  const close = () => {
    for (const root of roots.splice(0)) closeSync(root.descriptor)
  }
  try {
    for (const option of options) roots.push(openRoot(option))
  } catch (error) {
    close()
    throw error
  }
  const deepestFirst = roots.toSorted((a, b) => b.path.length - a.path.length || a.mode.localeCompare(b.mode))

  const place = (path: string, saysFolder: boolean): Target | undefined => {
    const root = deepestFirst.find((candidate) => isBelow(path, candidate.path))
    return root && { root, names: namesOf(path.slice(root.path.length)), path, saysFolder }
  }
  const outside = (path: string): ToolError =>
    new ToolError('PATH_OUTSIDE_SANDBOX', `${quotePath(path)} is outside the sandbox roots.`, {
      hint: `Use a path relative to ${roots[0]?.said}, or an absolute one below ${roots.map((root) => root.said).join(' or ')}.`,
    })

  return {
    locate(path) {
      if (roots.length === 0) throw new ToolError('SANDBOX_UNAVAILABLE', 'The sandbox has no open roots.')
      const { isAbsolute, names, saysFolder } = splitPath(path)
      const entered = isAbsolute ? enter(roots, names) : start(roots, names)
      const below = entered && collapse(entered.rest)
      const target = below && place(posix.join(entered.root.path, ...below), saysFolder)
      if (!target) throw outside(path)
      return target
    },
    locateLink(path, from) {
      const target = place(path, from.saysFolder)
      if (!target) throw outside(from.path)
      return target
    },
    close,
  }
}

/** True for the folder itself and for what is below it, by whole names. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function openRoot({ path, mode, untrusted = false, alias, isPrivate = false }: RootOptions): Root {
  const said = resolve(path)
  let descriptor: number | undefined
  try {
    const real = realpathSync.native(said)
    descriptor = fileAccess.openBase(real)
    probe(descriptor)
    return { path: real, said, mode, isUntrusted: untrusted, alias, isPrivate, descriptor }
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor)
    if (ToolError.is(error)) throw error
    const exhausted = resourceError(error, `The sandbox root ${quotePath(path)} cannot be opened`)
    if (exhausted) throw exhausted
    throw new ToolError('CONFIG_INVALID', `The sandbox root ${quotePath(path)} cannot be opened as a folder.`, {
      hint: 'Create the folder, or name another one in sandbox.root or sandbox.roots.',
      cause: error,
    })
  }
}

/** Everything stands on opening names below a descriptor: a root where that does not lead to itself is not used. */
function probe(descriptor: number): void {
  const seen = statSync(fileAccess.at(descriptor, '.'), { throwIfNoEntry: false })
  const held = fstatSync(descriptor)
  if (seen?.ino !== held.ino || seen.dev !== held.dev) throw unavailable()
}

function unavailable(): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', 'A sandbox root was opened, but names below it lead elsewhere.', {
    hint: 'Run the hub where /proc belongs to it, or where there is no /proc.',
  })
}

function onWindows(): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    'The file guard does not know the paths of Windows; no file is touched.',
    {
      hint: 'Run the hub in the Windows Subsystem for Linux (WSL 2).',
    },
  )
}

/** A relative path starts in the first root, or in the one whose alias it begins with. */
function start(roots: readonly Root[], names: readonly string[]): { root: Root; rest: readonly string[] } {
  const [first, second] = names
  const aliased = first === '..' ? roots.find(({ alias }) => alias === `../${second}`) : undefined
  return aliased ? { root: aliased, rest: names.slice(2) } : { root: roots[0]!, rest: names }
}

/** The outermost root that an absolute path enters by its first names, and the names after it. */
function enter(roots: readonly Root[], names: readonly string[]): { root: Root; rest: readonly string[] } | undefined {
  const path = `/${names.join('/')}`
  let found: { root: Root; rest: readonly string[] } | undefined
  for (const root of roots) {
    for (const folder of [root.path, root.said]) {
      if (!isBelow(path, folder)) continue
      const rest = names.slice(namesOf(folder).length)
      if (!found || rest.length > found.rest.length) found = { root, rest }
    }
  }
  return found
}

/** Resolves `..` on the list of names; undefined when it passes the root. */
function collapse(names: readonly string[]): string[] | undefined {
  const kept: string[] = []
  for (const name of names) {
    if (name !== '..') kept.push(name)
    else if (kept.pop() === undefined) return undefined
  }
  return kept
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}
