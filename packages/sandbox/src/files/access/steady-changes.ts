import { randomBytes } from 'node:crypto'
import { type BigIntStats, linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import {
  checkQuiet,
  checkSteady,
  exchanged,
  isSameEntry,
  type SteadyFolder,
  type SystemPath,
  toSystem,
} from './steady-folder.ts'

/** A name in a folder. */
export interface SteadyEntry {
  readonly folder: SteadyFolder
  readonly path: SystemPath
}

/** How often a step is retried while its path leads elsewhere. */
const MAX_TRIES = 10_000
/** How often after that, with pauses of a millisecond: on a busy machine, the program that exchanges the folder waits for the processor. */
const MAX_SLOW_TRIES = 200
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4))

/*
 * A path may lead to another folder at the moment of a change. A draft's name exists in one folder only, so a step that
 * uses such a name fails elsewhere and does no harm. Every other change consists of such steps: an entry gets a draft's
 * name in its own folder, is checked, and gets its own name again if it is not the expected one.
 */

/** Renames an entry; the two folders may be different ones. */
export function renameEntry(from: SteadyEntry, to: SteadyEntry): void {
  if (isOwn(from)) giveOwn(from, to)
  else if (isOwn(to) && isSameFolder(from, to)) take(from, to)
  else renameByDraft(from, to)
}

function renameByDraft(from: SteadyEntry, to: SteadyEntry): void {
  const taken = ownEntry(from.folder)
  take(from, taken)
  try {
    giveOwn(taken, to)
  } catch (error) {
    putBack(taken, from)
    throw error
  }
}

/** Gives a file a second name. */
export function linkEntry(from: SteadyEntry, to: SteadyEntry): void {
  if (isOwn(from) && isSameFolder(from, to)) linkNow(from, to)
  else linkByDraft(from, to)
}

function linkByDraft(from: SteadyEntry, to: SteadyEntry): void {
  const expected = lookAt(from)
  const near = isOwn(to) ? to : ownEntry(to.folder)
  linkNow(from, near)
  try {
    if (!isThere(near, expected)) throw exchanged(from.folder.path)
    if (near !== to) linkNow(near, to)
  } catch (error) {
    tryUntilThere(() => unlinkSync(near.path))
    throw error
  }
  if (near !== to) unlinkEntry(near)
}

/** Removes a file or a link. */
export function unlinkEntry(entry: SteadyEntry): void {
  const taken = isOwn(entry) ? entry : ownEntry(entry.folder)
  try {
    if (taken !== entry) take(entry, taken)
  } catch (error) {
    if (ToolError.is(error) || errnoOf(error) === 'ENOENT') throw error
    // Nothing can be renamed here: it is removed by its own name.
    checkQuiet(entry.folder)
    unlinkSync(entry.path)
    return
  }
  removeTaken(taken, entry, unlinkSync)
}

/** Creates a folder; fails with EEXIST if the name is in use. */
export function makeEntry(entry: SteadyEntry, mode?: number): void {
  const made = isOwn(entry) ? entry : ownEntry(entry.folder)
  checkQuiet(entry.folder)
  mkdirSync(made.path, mode)
  try {
    if (!isThere(made, lookAt(made))) throw exchanged(entry.folder.path)
    if (made === entry) return
    if (lookIfThere(entry)) throw taken(entry)
    giveOwn(made, entry)
  } catch (error) {
    tryUntilThere(() => rmdirSync(made.path))
    throw ['ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(error)) ? taken(entry) : error
  }
}

/** Removes an empty folder. */
export function removeEntry(entry: SteadyEntry): void {
  const taken = isOwn(entry) ? entry : ownEntry(entry.folder)
  if (taken !== entry) take(entry, taken)
  removeTaken(taken, entry, rmdirSync)
}

/** What cannot be removed gets its own name again. */
function removeTaken(taken: SteadyEntry, entry: SteadyEntry, remove: (path: SystemPath) => void): void {
  try {
    removeOwn(taken, remove)
  } catch (error) {
    if (taken !== entry) putBack(taken, entry)
    throw error
  }
}

/** Renames an entry to a draft within its folder; an entry that is not the expected one gets its own name again. */
function take(from: SteadyEntry, taken: SteadyEntry): void {
  const expected = lookAt(from)
  checkQuiet(from.folder)
  renameSync(from.path, taken.path)
  try {
    if (!isThere(taken, expected)) throw exchanged(from.folder.path)
  } catch (error) {
    putBack(taken, from)
    throw error
  }
}

/** Renames an entry that has a draft's name. */
function giveOwn(from: SteadyEntry, to: SteadyEntry): void {
  checkQuiet(from.folder)
  if (isSameFolder(from, to)) renameSync(from.path, to.path)
  else giveFar(from, to)
}

function giveFar(from: SteadyEntry, to: SteadyEntry): void {
  const expected = lookAt(from)
  const near = isOwn(to) ? to : ownEntry(to.folder)
  checkQuiet(to.folder)
  renameSync(from.path, near.path)
  try {
    if (!isThere(near, expected)) throw exchanged(to.folder.path)
    if (near !== to) renameSync(near.path, to.path)
  } catch (error) {
    putBack(near, from)
    throw error
  }
}

function linkNow(from: SteadyEntry, to: SteadyEntry): void {
  checkQuiet(from.folder)
  checkQuiet(to.folder)
  linkSync(from.path, to.path)
}

/** The original folder is one to which the path leads at some moment, and only there does the draft's name exist. */
function putBack(taken: SteadyEntry, to: SteadyEntry): void {
  tryUntilThere(() => renameSync(taken.path, to.path))
}

function removeOwn(entry: SteadyEntry, remove: (path: SystemPath) => void): void {
  const sinceMs = Date.now()
  if (tryUntilThere(() => remove(entry.path), entry.folder)) return
  // It no longer exists, unless its path has led elsewhere all the time.
  checkSteady(entry.folder, sinceMs, () => true)
  remove(entry.path)
}

/** Returns false if nothing has that name, once `folder` is in its place or after many attempts. */
function tryUntilThere(step: () => void, folder?: SteadyFolder): boolean {
  for (let tries = 0; tries < MAX_TRIES + MAX_SLOW_TRIES; tries += 1) {
    if (tries >= MAX_TRIES) Atomics.wait(NEVER_NOTIFIED, 0, 0, 1)
    try {
      step()
      return true
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
      if (folder && isQuiet(folder)) return false
    }
  }
  return false
}

function isQuiet(folder: SteadyFolder): boolean {
  try {
    checkQuiet(folder)
    return true
  } catch {
    return false
  }
}

/** Whether a path leads to this entry, and led there all the time. */
function isThere(entry: SteadyEntry, expected: BigIntStats): boolean {
  const sinceMs = Date.now()
  const look = () => {
    const now = lookIfThere(entry)
    return now !== undefined && isSameEntry(now, expected)
  }
  if (!look()) return false
  checkSteady(entry.folder, sinceMs, look)
  return true
}

function lookAt(entry: SteadyEntry): BigIntStats {
  const sinceMs = Date.now()
  const stats = lstatSync(entry.path, { bigint: true })
  checkSteady(entry.folder, sinceMs, () => {
    const now = lookIfThere(entry)
    return now !== undefined && isSameEntry(now, stats)
  })
  return stats
}

function lookIfThere({ path }: SteadyEntry): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

/** Whether a path contains a draft's name, and so cannot lead elsewhere. */
function isOwn({ path }: SteadyEntry): boolean {
  return path
    .toString('latin1' as never)
    .split('/')
    .some(isDraftName)
}

function ownEntry(folder: SteadyFolder): SteadyEntry {
  return { folder, path: toSystem(`${folder.path === '/' ? '' : folder.path}/${newDraftName()}`) }
}

function isSameFolder(a: SteadyEntry, b: SteadyEntry): boolean {
  return a.folder.path === b.folder.path
}

function taken({ path }: SteadyEntry): Error {
  return Object.assign(new Error(`EEXIST: file already exists, mkdir '${path}'`), { code: 'EEXIST', syscall: 'mkdir' })
}

const DRAFT_NAME = /^\.tool-hub-[0-9a-f]{24}\.tmp$/

/** A free name for something that is unfinished or about to be removed. */
export function newDraftName(): string {
  return `.tool-hub-${randomBytes(12).toString('hex')}.tmp`
}

/** Whether a name was made by `newDraftName`. */
export function isDraftName(name: string): boolean {
  return DRAFT_NAME.test(name)
}
