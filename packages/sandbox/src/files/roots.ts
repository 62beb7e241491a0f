import { closeSync, fstatSync, realpathSync, statSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { resourceError, ToolError } from '@tool-hub/core'
import { isWithin, LONE_SURROGATE } from '@tool-hub/core/lib'
import { fileAccess } from './access/choose-access.ts'
import { quotePath } from './file-error.ts'

/** A folder that tools may see, kept open so that it cannot be swapped. */
interface Root {
  /** Its real path when it was opened. */
  readonly path: string
  /** Its path as configured, made absolute. */
  readonly said: string
  readonly mode: 'read' | 'write'
  /** Whether content read here counts as coming from outside. */
  readonly isUntrusted: boolean
  /** Relative paths with this prefix lead here. */
  readonly alias?: string
  /** It is the workspace of one run, which is empty at the start. */
  readonly isPrivate: boolean
  readonly descriptor: number
}

/** A root as configured. */
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
export interface FileTarget {
  readonly root: Root
  readonly names: readonly string[]
  /** The root's real path and the names. */
  readonly path: string
  readonly saysFolder: boolean
}

/** The roots of one guard. */
export interface Roots {
  /** The target of a caller's path, by its text alone. Throws PATH_OUTSIDE_SANDBOX if it leaves the roots. */
  locate(path: string): FileTarget
  /** The target of a link's absolute destination. */
  locateLink(path: string, from: FileTarget): FileTarget
  close(): void
}

/** Opens every root. A relative path is relative to the first; the deepest root that contains a path determines its mode. */
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

  const place = (path: string, saysFolder: boolean): FileTarget | undefined => {
    for (const root of deepestFirst) {
      if (isWithin(root.path, path)) return { root, names: namesOf(path.slice(root.path.length)), path, saysFolder }
    }
    return undefined
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
      const below = entered?.rest.includes('..') ? collapse(entered.rest) : entered?.rest
      const target = entered && below && place(posix.join(entered.root.path, ...below), saysFolder)
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

/** All access is by names below a descriptor: throws if that does not lead to the root itself. */
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
  let found: { root: Root; rest: readonly string[] } | undefined
  for (const root of roots) {
    for (const folder of [root.path, root.said]) {
      const first = namesOf(folder)
      if (!first.every((name, index) => name === names[index])) continue
      const rest = names.slice(first.length)
      if (!found || rest.length > found.rest.length) found = { root, rest }
    }
  }
  return found
}

/** Resolves `..` in the list of names; undefined if it leaves the root. */
function collapse(names: readonly string[]): string[] | undefined {
  const kept: string[] = []
  for (const name of names) {
    if (name !== '..') kept.push(name)
    else if (kept.pop() === undefined) return undefined
  }
  return kept
}

function namesOf(path: string): string[] {
  return path.split('/').filter(Boolean)
}

const MAX_PATH_BYTES = 4095
const MAX_NAME_BYTES = 255

/** A split path: its names in order, without `.` and empty names, with `..`. */
interface SplitPath {
  readonly isAbsolute: boolean
  readonly names: readonly string[]
  /** The spelling can only mean a folder: `a/`, `a/.`, `a/..`. */
  readonly saysFolder: boolean
}

/** Splits a path by its text alone: no tilde, variable, percent or URL decoding. Throws for names that no file can have. */
export function splitPath(path: string): SplitPath {
  if (typeof path !== 'string') throw invalid(`A path is a string, not ${path === null ? 'null' : typeof path}.`)
  if (path === '') throw invalid('The path is empty.')
  if (path.includes('\0')) throw invalid(`The path ${quotePath(path)} has a NUL character.`)
  if (LONE_SURROGATE.test(path)) throw invalid(`The path ${quotePath(path)} has half a character (a lone surrogate).`)
  const bytes = Buffer.byteLength(path)
  if (bytes > MAX_PATH_BYTES) throw invalid(`The path has ${bytes} bytes, the limit is ${MAX_PATH_BYTES}.`)
  const names: string[] = []
  let last = ''
  for (const part of path.split('/')) {
    // A character has at most three bytes a unit: short names need no counting.
    if (part.length * 3 > MAX_NAME_BYTES) checkName(part)
    if (part !== '' && part !== '.') names.push(part)
    last = part
  }
  return { isAbsolute: path.startsWith('/'), names, saysFolder: last === '' || last === '.' || last === '..' }
}

function checkName(name: string): void {
  const bytes = Buffer.byteLength(name)
  if (bytes <= MAX_NAME_BYTES) return
  throw invalid(`The name ${quotePath(name)} has ${bytes} bytes, the limit is ${MAX_NAME_BYTES}.`)
}

function invalid(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Give the path of a file below a root.' })
}
