import { closeSync, constants, fstatSync, openSync } from 'node:fs'

/** Makes a file without a name, which is gone when it is closed. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY

/** File times may lag behind the clock by a tick, and on a network they are another machine's. */
const MARGIN_MS = 1_000

/** A time that is not after the ctime of any file that is changed in these folders from now on. */
export function timeBefore(folders: readonly string[]): number {
  return Math.min(...timesIn(folders, -MARGIN_MS), Date.now())
}

/** A time that is not before the ctime of any file that was changed in these folders until now. */
export function timeAfter(folders: readonly string[]): number {
  return Math.max(...timesIn(folders, MARGIN_MS))
}

/** What the file system of each folder says; where it cannot be asked, the clock with a margin. */
function timesIn(folders: readonly string[], margin: number): number[] {
  const times = folders.map((folder) => timeIn(folder) ?? Date.now() + margin)
  return times.length > 0 ? times : [Date.now() + margin]
}

function timeIn(folder: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const descriptor = openSync(folder, O_TMPFILE | constants.O_RDWR, 0o600)
    try {
      return fstatSync(descriptor).ctimeMs
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Not every file system can do it, and not every folder is ours.
    return undefined
  }
}
