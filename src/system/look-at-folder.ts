import { realpathSync, statSync } from 'node:fs'
import { type Distrust, distrust } from './owned-by-us.ts'

/** A folder as it is found; a link to one counts. */
export interface FoundFolder {
  /** Its real path. */
  readonly path: string
  /** Why another user could have written to it. */
  readonly distrust: Distrust | undefined
}

/** What is known of a folder; undefined when there is none. */
export function lookAtFolder(path: string): FoundFolder | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isDirectory() ? { path: realpathSync.native(path), distrust: distrust(stats) } : undefined
  } catch {
    // Not to be reached, so not there for us.
    return undefined
  }
}
