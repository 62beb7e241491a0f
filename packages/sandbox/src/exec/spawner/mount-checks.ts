import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { statsIfThere } from '../../system/index.ts'

interface MountSource {
  /** Path of the mount's root in its file system. */
  readonly root: string
  readonly device: string
}

/**
 * The first mount of a sandbox that is not what it should be, according to `/proc/<pid>/mountinfo` of any process in it:
 * its source, inside a folder that other commands can write, was replaced with a link while the sandbox was created, and
 * the sandbox would show the link's target. Such a sandbox gets no command.
 */
export function swappedMount(
  { swappable }: { readonly swappable?: readonly string[] },
  mountInfo: string,
): string | undefined {
  const mounts = readMounts(mountInfo)
  return swappable?.find((path) => {
    const [visible, ...below] = mounts.get(path)?.toReversed() ?? []
    // A separate disk that is mounted there came in with the folder around it.
    const expected = [sourceByParent(path, mounts), ...below]
    return !visible || !expected.some((source) => source?.device === visible.device && source.root === visible.root)
  })
}

/** Those of the paths on which nothing is mounted, according to the same text. */
export function detachedMounts(paths: readonly string[], mountInfo: string): string[] {
  const mounts = readMounts(mountInfo)
  return paths.filter((path) => !mounts.has(path))
}

/**
 * The mount points in `mountInfo` that show a file system of the other mount namespace, whose text is `outside`. Bind
 * mounts keep their device; a file system that was created for the sandbox has a device of its own.
 */
export function sharedMounts(mountInfo: string, outside: string): ReadonlySet<string> {
  const devices = new Set([...readMounts(outside).values()].flat().map(({ device }) => device))
  const mounts = [...readMounts(mountInfo)]
  return new Set(mounts.filter(([, found]) => devices.has(found.at(-1)!.device)).map(([path]) => path))
}

/** What a path would show if only the mount around it existed. */
function sourceByParent(path: string, mounts: ReadonlyMap<string, readonly MountSource[]>): MountSource | undefined {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
    const parent = mounts.get(path.slice(0, cut))?.at(-1)
    if (parent) return { device: parent.device, root: (parent.root === '/' ? '' : parent.root) + path.slice(cut) }
  }
  return undefined
}

/** By path; if several mounts cover each other, the last one is visible. */
function readMounts(mountInfo: string): Map<string, MountSource[]> {
  const mounts = new Map<string, MountSource[]>()
  for (const line of mountInfo.split('\n')) {
    const [, , device, root, point] = line.split(' ')
    if (!device || !root || !point) continue
    const path = unescapeOctal(point)
    mounts.set(path, [...(mounts.get(path) ?? []), { device, root: unescapeOctal(root) }])
  }
  return mounts
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

/** What is watched while the command of a sandbox runs. */
export interface CoveredPaths {
  /** Mount points that hide or protect something. */
  readonly closed: readonly string[]
  /** The mount table of a process in the sandbox; throws if there is none any more. */
  readonly mounts: () => string
  /** A new file is at such a path, and nothing covers it. Called once. */
  readonly onUncovered: (path: string) => void
}

const CHECK_MS = 250
/** While nothing is at such a path, an uncovered file may appear there at any moment. */
const CHECK_AGAIN_MS = 10

/**
 * Checks that the mounts of a sandbox still cover their files: when somebody outside replaces a file by renaming another
 * over it, as editors and git do, the kernel removes the mounts on it in every other mount namespace. The files are
 * watched; where the system does not allow that, four checks a second find it. Returns a function that ends the watch.
 */
export function watchCovers({ closed, mounts, onUncovered }: CoveredPaths): () => void {
  const watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const end = () => {
    isOver = true
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
  const check = () => {
    if (isOver) return
    const detached = detachedNow(closed, mounts)
    const uncovered = detached?.find((path) => statsIfThere(path))
    if (detached === undefined || uncovered !== undefined) end()
    else checkLater(detached.length > 0 ? CHECK_AGAIN_MS : CHECK_MS)
    if (uncovered !== undefined) onUncovered(uncovered)
  }
  const checkLater = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(check, ms)
  }
  watchers.push(...closed.flatMap((path) => watchPath(path, check)))
  if (closed.length > 0) checkLater(CHECK_MS)
  return end
}

/** Undefined if no process is left in the sandbox. */
function detachedNow(closed: readonly string[], mounts: () => string): string[] | undefined {
  try {
    return detachedMounts(closed, mounts())
  } catch {
    // Its process has ended, and all others in the sandbox with it.
    return undefined
  }
}

function watchPath(path: string, check: () => void): FSWatcher[] {
  try {
    // Changes inside a folder, such as the hub's own records, do not matter.
    const watcher = watch(path, { persistent: false }, (_, name) => {
      if (name === null || name === basename(path)) check()
    })
    // The watched file is gone; the regular checks continue.
    watcher.on('error', () => undefined)
    return [watcher]
  } catch {
    // Too many watches, or the file may not be read: the regular checks find it.
    return []
  }
}

/** Nothing of a workspace lies below these, and checking them takes time. */
const SYSTEM_PATH = /^\/(usr|etc|proc|dev|sys|bin|sbin|lib|lib64|run)(\/|$)/

/**
 * Identifies the files and folders that the paths among a sandbox's arguments lead to at this moment. A warm sandbox
 * shows the old folder forever, even after another one has taken its place.
 */
export function fingerprint(args: readonly string[]): string {
  return args
    .filter((arg) => arg.startsWith('/') && !SYSTEM_PATH.test(arg))
    .map(identityOf)
    .join()
}

let unknown = 0

function identityOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? '-' : `${stats.dev}:${stats.ino}`
  } catch {
    // A command has closed a folder along the path, or created a loop of links: the result equals nothing else.
    unknown += 1
    return `unknown ${unknown}`
  }
}
