import type { Stats } from 'node:fs'
import { type FileFacts, ToolError } from '../../../core/index.ts'
import { quotePath } from '../file-error.ts'
import type { FilesCall, FilesRoot } from '../files-root.ts'
import type { FileTarget } from '../open-roots.ts'
import { followLinks, inParent, type LinkTarget, lastLink, statAt } from '../walk.ts'

/** What the file system says about an entry; links are followed as far as they stay inside, as when reading. */
export async function statEntry(filesRoot: FilesRoot, call: FilesCall, path: string): Promise<FileFacts> {
  const { target, stats } = followLinks(filesRoot.roots, path, look)
  filesRoot.pass(target, 'read', call)
  const type = typeOf(stats)
  if (target.saysFolder && type !== 'directory') {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is spelled like a folder, but is none.`, {
      hint: 'Leave out the slash at the end.',
    })
  }
  const { size, mtimeMs, mode } = stats
  return { path: target.path, type, bytes: size, modified: isoTime(mtimeMs), mode: mode & 0o7777 }
}

/** The kind of an entry in the words of the handle. */
export function typeOf(stats: Stats): FileFacts['type'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

function look(target: FileTarget): { target: FileTarget; stats: Stats } | LinkTarget {
  const found = inParent(target, (parent, name) => {
    const stats = statAt(parent, name)
    const link = stats?.isSymbolicLink() ? lastLink(target, parent, name) : undefined
    return link ?? (stats && { target, stats })
  })
  if (found) return found
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

const DAY_MS = 86_400_000
const MAX_MS = 8.64e15
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

let lastDay = Number.NaN
let lastDayText = ''

/**
 * A time of the file system as ISO text; one that no date can hold (a damaged disk) becomes the nearest one. Entries of a
 * listing are often of the same day: putting the rest together is four times faster than `toISOString`, which was a
 * tenth of the whole listing.
 */
export function isoTime(milliseconds: number): string {
  const time = Math.floor(Math.max(-MAX_MS, Math.min(MAX_MS, milliseconds)))
  const day = Math.floor(time / DAY_MS)
  if (day !== lastDay) {
    lastDayText = new Date(Math.max(-MAX_MS, day * DAY_MS)).toISOString().slice(0, -13)
    lastDay = day
  }
  const rest = time - day * DAY_MS
  const hours = TWO_DIGITS[Math.floor(rest / 3_600_000)]
  const minutes = TWO_DIGITS[Math.floor(rest / 60_000) % 60]
  const seconds = TWO_DIGITS[Math.floor(rest / 1_000) % 60]
  return `${lastDayText}${hours}:${minutes}:${seconds}.${String(rest % 1_000).padStart(3, '0')}Z`
}
