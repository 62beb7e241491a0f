import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { statsIfThere } from './paths.ts'
import { readOurs } from './trusted-files.ts'

/** The file that marks a folder as made by the hub itself: a copied, cloned or unpacked folder is another one. */
const MARK = 'created.json'
const OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022
const MAX_BYTES = 1_000

/**
 * Creates the folder for what outlives runs, for this user alone, or throws CONFIG_INVALID for one that cannot be
 * trusted: the store, grants and sign-ins in it are believed, so the hub must have made it here, or it must be empty.
 */
export function prepareDataFolder(folder: string): void {
  if (!statsIfThere(folder)) makeFolder(folder)
  const stats = lstatSync(folder)
  if (!stats.isDirectory()) throw untrusted(folder, 'is not a folder, but a link or a file', `rm ${folder}`)
  assertOwner(folder, stats.uid)
  if (isMarked(folder)) {
    assertPrivate(folder, stats.mode)
    return
  }
  // Another process that creates it at the same time marks it before it puts anything into it.
  const others = readdirSync(folder).filter((name) => !name.startsWith(MARK) && !isOfFileSystem(folder, name))
  if (others.length > 0 && !isMarked(folder)) throw notMade(folder)
  // Somebody made it for the hub and put nothing into it.
  if ((stats.mode & OTHERS) !== 0) chmodSync(folder, 0o700)
  markDataFolder(folder)
}

/** Like `prepareDataFolder`, before a file in the folder is created: only for a folder that is missing. */
export function prepareMissingDataFolder(folder: string): void {
  if (!statsIfThere(folder)) prepareDataFolder(folder)
}

/** Throws CONFIG_INVALID for a folder of another user, before anything in it is read. A missing folder passes. */
export function assertOwnDataFolder(folder: string): void {
  const stats = statsIfThere(folder)
  if (stats) assertOwner(folder, stats.uid)
}

/** Trusts a folder of this user with everything in it, because the owner says so. */
export function adoptDataFolder(folder: string): void {
  const stats = statsIfThere(folder)
  if (!stats?.isDirectory()) throw untrusted(folder, 'is not a folder', 'name the folder with data in the config')
  assertOwner(folder, stats.uid)
  chmodSync(folder, 0o700)
  markDataFolder(folder)
}

function assertOwner(folder: string, uid: number): void {
  const us = process.geteuid?.()
  if (us === undefined || uid === us) return
  throw untrusted(folder, `belongs to user ${uid}, not to you (user ${us})`, `chown -R ${us} ${folder}`)
}

/** Writes the identity of the folder into the folder itself. */
export function markDataFolder(folder: string): void {
  const draft = join(folder, `${MARK}.${randomBytes(4).toString('hex')}`)
  writeFileSync(draft, `${JSON.stringify({ version: 1, ...identityOf(folder) })}\n`, { mode: 0o600, flush: true })
  renameSync(draft, join(folder, MARK))
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new ToolError('CONFIG_INVALID', `The data folder ${folder} cannot be made (${errnoOf(error)}).`, {
      hint: 'Make it yourself, empty and with mode 700, or name another one with data in the config.',
      cause: error,
    })
  }
}

function isMarked(folder: string): boolean {
  const text = readOurs(join(folder, MARK), MAX_BYTES)
  if (text === undefined) return false
  const { ino, born } = identityOf(folder)
  try {
    const mark = JSON.parse(text)
    return mark.version === 1 && mark.ino === ino && mark.born === born
  } catch {
    // Half written at a loss of power, or not ours: no proof either way.
    return false
  }
}

/** A file system that was just made has a folder for what a repair finds; only root can make it. */
function isOfFileSystem(folder: string, name: string): boolean {
  if (name !== 'lost+found') return false
  const stats = lstatSync(join(folder, name))
  return stats.isDirectory() && stats.uid === 0
}

/** What a copy of a folder does not share with it, and nobody who packs an archive can predict. */
function identityOf(folder: string): { ino: string; born: string } {
  const { ino, birthtimeNs } = lstatSync(folder, { bigint: true })
  return { ino: String(ino), born: String(birthtimeNs) }
}

function assertPrivate(folder: string, mode: number): void {
  // Windows protects folders by access lists, and has no such modes.
  if (process.geteuid === undefined || (mode & OTHERS) === 0) return
  const use = (mode & WRITABLE_BY_OTHERS) === 0 ? 'read' : 'written'
  throw untrusted(folder, `can be ${use} by other users (mode ${(mode & 0o777).toString(8)})`, `chmod 700 ${folder}`)
}

function notMade(folder: string): ToolError {
  return new ToolError(
    'CONFIG_INVALID',
    `The data folder ${folder} was not made by tool-hub on this machine: it may have come with a copied, restored or downloaded project.`,
    {
      hint: 'If what is in it is yours (tokens, grants, sign-ins), take it over with tool-hub store adopt; if not, remove it.',
      details: { folder },
    },
  )
}

function untrusted(folder: string, why: string, command: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The data folder ${folder} ${why}.`, {
    hint: `Look who made it and why; then ${command}.`,
    details: { folder },
  })
}
