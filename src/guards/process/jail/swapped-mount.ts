import type { Jail } from './jail.ts'

interface Place {
  /** Path of the mount's root in its file system. */
  readonly root: string
  readonly device: string
}

/**
 * The first mount of a jail that is not what it should be, by the text of `/proc/<pid>/mountinfo` of any process in it:
 * its source, inside a folder that other commands write to, was swapped for a link while the jail was made, and the jail
 * would show what the link leads to. Such a jail gets no command.
 */
export function swappedMount(jail: Pick<Jail, 'swappable'>, mountInfo: string): string | undefined {
  const mounts = readMounts(mountInfo)
  return jail.swappable?.find((path) => {
    const [seen, ...below] = mounts.get(path)?.toReversed() ?? []
    // A disk of its own that is mounted there came in with the folder around it.
    const expected = [outer(path, mounts), ...below]
    return !seen || !expected.some((place) => place?.device === seen.device && place.root === seen.root)
  })
}

/** Those of the paths on which nothing is mounted, by the same text. */
export function detachedMounts(paths: readonly string[], mountInfo: string): string[] {
  const mounts = readMounts(mountInfo)
  return paths.filter((path) => !mounts.has(path))
}

/** Where a path would lie if only the mount around it were there. */
function outer(path: string, mounts: ReadonlyMap<string, readonly Place[]>): Place | undefined {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
    const place = mounts.get(path.slice(0, cut))?.at(-1)
    if (place) return { device: place.device, root: (place.root === '/' ? '' : place.root) + path.slice(cut) }
  }
  return undefined
}

/** By path; where several lie on each other, the last is the one that is seen. */
function readMounts(mountInfo: string): Map<string, Place[]> {
  const mounts = new Map<string, Place[]>()
  for (const line of mountInfo.split('\n')) {
    const [, , device, root, point] = line.split(' ')
    if (!device || !root || !point) continue
    const path = unescaped(point)
    mounts.set(path, [...(mounts.get(path) ?? []), { device, root: unescaped(root) }])
  }
  return mounts
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
