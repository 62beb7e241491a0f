import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import { statsIfThere } from '../../../../disk/stats-if-there.ts'
import { detachedMounts } from '../../jail/swapped-mount.ts'

/** What is watched of a sandbox whose command runs. */
export interface CoveredPlaces {
  /** Mount points that hide something, or keep it from being changed. */
  readonly closed: readonly string[]
  /** The mounts as a process in the sandbox sees them; throws when there is none any more. */
  readonly mounts: () => string
  /** Something new is at such a path, and nothing covers it. Called once. */
  readonly onUncovered: (path: string) => void
}

const LOOK_MS = 250
/** While nothing is at such a path, something uncovered may come there at any moment. */
const LOOK_AGAIN_MS = 10

/**
 * Looks whether the mounts of a sandbox still cover what they are for: when somebody outside replaces a file by renaming
 * another over it, as editors and git do, the system takes the mounts on it away in every other mount namespace. The files
 * are watched; where the system does not let them be, four looks a second find it. Returns how to end that.
 */
export function watchCovers({ closed, mounts, onUncovered }: CoveredPlaces): () => void {
  const watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const end = () => {
    isOver = true
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
  const look = () => {
    if (isOver) return
    const detached = detachedNow(closed, mounts)
    const uncovered = detached?.find((path) => statsIfThere(path))
    if (detached === undefined || uncovered !== undefined) end()
    else lookLater(detached.length > 0 ? LOOK_AGAIN_MS : LOOK_MS)
    if (uncovered !== undefined) onUncovered(uncovered)
  }
  const lookLater = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(look, ms)
  }
  watchers.push(...closed.flatMap((path) => watched(path, look)))
  if (closed.length > 0) lookLater(LOOK_MS)
  return end
}

/** Undefined when nothing is left in the sandbox. */
function detachedNow(closed: readonly string[], mounts: () => string): string[] | undefined {
  try {
    return detachedMounts(closed, mounts())
  } catch {
    // Its process has ended, and with it all others in it.
    return undefined
  }
}

function watched(path: string, look: () => void): FSWatcher[] {
  try {
    // What changes inside a folder, such as the hub's own records, does not matter.
    const watcher = watch(path, { persistent: false }, (_, name) => {
      if (name === null || name === basename(path)) look()
    })
    // What is watched has gone; the looks go on.
    watcher.on('error', () => undefined)
    return [watcher]
  } catch {
    // Too many are watched, or it may not be read: the looks find it.
    return []
  }
}
