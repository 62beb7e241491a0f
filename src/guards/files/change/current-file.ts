import { type BigIntStats, closeSync, constants, fstatSync } from 'node:fs'
import type { FileState } from '../../../change.ts'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { exactStatAt, openAt } from '../at-descriptor.ts'
import { quotePath } from '../quote-path.ts'
import { lastLink, refuseLink } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { hashFile } from './hash-file.ts'
import type { Place } from './place.ts'

// Without O_NONBLOCK a pipe with no writer would hang the process.
const READ = constants.O_RDONLY | constants.O_NONBLOCK

/** Permission bits that a new content may take over; never setuid, setgid or sticky. */
const KEPT_MODE = 0o777

/** The regular file that stands at a place now, held open. */
export interface CurrentFile {
  readonly descriptor: number
  readonly stats: BigIntStats
}

/** Opens what stands at a place; undefined when nothing does. A link, a folder or a device is refused. */
export function openCurrent(scope: ChangeScope, place: Place): CurrentFile | undefined {
  const descriptor = openUnfollowed(scope, place)
  if (descriptor === undefined) return undefined
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    checkFile(stats, place)
    return { descriptor, stats }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Content and permissions of an open file, as the journal names them. */
export async function stateOf({ descriptor, stats }: CurrentFile, signal: AbortSignal): Promise<FileState> {
  const bytes = Number(stats.size)
  return { sha256: await hashFile(descriptor, bytes, signal), bytes, mode: modeOf(stats) }
}

/** The permission bits that a file keeps. */
export function modeOf(stats: BigIntStats): number {
  return Number(stats.mode) & KEPT_MODE
}

/** Throws CONFLICT unless the place still leads to the very file that was opened, and nobody wrote to it since. */
export function checkUnchanged(place: Place, stats: BigIntStats): void {
  const now = exactStatAt(place.parent, place.name)
  // Not the ctime: a second link, which the journal makes to keep the content, changes it.
  if (now && isSame(now, stats) && now.size === stats.size && now.mtimeNs === stats.mtimeNs) return
  throw changed(place)
}

/** Whether both are the same file, whatever its content. */
export function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** What a change says that finds another content than the one it was made for. */
export function changed({ target }: Place): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} changed since it was read.`, {
    hint: 'Read it again, then decide.',
  })
}

function openUnfollowed({ door }: ChangeScope, { target, parent, name }: Place): number | undefined {
  try {
    return openAt(parent, name, READ)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    const link = errnoOf(error) === 'ELOOP' ? lastLink(target, parent, name) : undefined
    if (link) return refuseLink(door.roots, link, target)
    throw error
  }
}

function checkFile(stats: BigIntStats, { target }: Place): void {
  if (stats.isFile()) return
  const shown = quotePath(target.path)
  if (stats.isDirectory()) throw new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a folder, not a file.`)
  throw new ToolError('PATH_DENIED', `${shown} is a pipe, a socket or a device, not a regular file.`)
}
