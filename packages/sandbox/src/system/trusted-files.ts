import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ToolError } from '@tool-hub/core'
import { errnoOf, shortPath } from '@tool-hub/core/lib'

/** Why another user could have written something on disk, and the command that prevents it. */
export interface Distrust {
  readonly why: string
  readonly command: string
}

interface Owned {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

const WRITABLE_BY_GROUP = 0o020
const WRITABLE_BY_ANYBODY = 0o002

/**
 * Returns why another user could have written something, or `undefined` if only this user and root could. Many systems
 * give each user a group of the same number that can write everything the user creates: it is not another user.
 */
export function distrust({ uid, gid, mode }: Owned, us = process.geteuid?.()): Distrust | undefined {
  // Windows has no such owners; access lists protect its folders.
  if (us === undefined) return undefined
  if (uid !== us && uid !== 0)
    return { why: `belongs to user ${uid}, not to you (user ${us}) or root`, command: `chown ${us}` }
  const isOwnGroup = gid === uid && uid !== 0
  const forbidden = isOwnGroup ? WRITABLE_BY_ANYBODY : WRITABLE_BY_ANYBODY | WRITABLE_BY_GROUP
  if ((mode & forbidden) === 0) return undefined
  return { why: `can be written by other users (mode ${(mode & 0o7777).toString(8)})`, command: 'chmod go-w' }
}

/** Throws CONFIG_INVALID for what another user could have written; `name` is its name in the message. */
export function assertOurs(stats: Owned, name: string, path: string = name): void {
  const found = distrust(stats)
  if (found) throw notOurs(`${name} ${found.why}.`, `${found.command} ${name}`, path)
}

/** Throws CONFIG_INVALID for a folder that is a link, or that another user owns or can write to. */
export function assertOurFolder(path: string, name: string = path): void {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) throw notOurs(`${name} is not a folder, but a link or a file.`, `rm ${name}`, path)
  assertOurs(stats, name, path)
}

/**
 * Opens a regular file that only this user or root can have written: never through a link, never waiting for a pipe.
 */
export function openOurs(path: string, flags: number, { name = path, mode = 0o600 } = {}): number {
  const descriptor = openUnfollowed(path, flags, name, mode)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw notOurs(`${name} is not a regular file.`, `rm -r ${name}`, path)
    assertOurs(stats, name, path)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Reads a small file that only this user or root can have written. Returns `undefined` if there is none. */
export function readOurs(path: string, maxBytes: number): string | undefined {
  let descriptor: number
  try {
    descriptor = openOurs(path, constants.O_RDONLY)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const { size } = fstatSync(descriptor)
    if (size > maxBytes) throw new Error(`it has ${size} bytes, the limit is ${maxBytes}`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

function openUnfollowed(path: string, flags: number, name: string, mode: number): number {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode)
  } catch (error) {
    if (errnoOf(error) !== 'ELOOP') throw error
    throw notOurs(`${name} is a symbolic link.`, `rm ${name}`, path)
  }
}

function notOurs(message: string, command: string, path: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, {
    hint: `Look who made it and why; then ${command}. On a disk that keeps no owners and modes, use another folder.`,
    details: { path },
  })
}

/** Opens a regular file for reading. Throws CONFIG_INVALID for a link, a pipe or a device. */
export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await openWithoutFollowing(path)
  try {
    if ((await handle.stat()).isFile()) return handle
    throw irregular(path, 'is not a regular file')
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Reads at most `maxBytes` from the beginning of a regular file as text. */
export async function readRegular(path: string, maxBytes: number): Promise<string> {
  const handle = await openRegular(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/**
 * Reads a regular file of at most `maxBytes` where commands may write: never through a link, never waiting for a pipe or
 * for the holder of a lease. Returns `undefined` if it is not such a file or cannot be read now.
 */
export function readWithoutWaiting(path: string | Buffer, maxBytes: number): Buffer | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > maxBytes) return undefined
    const buffer = Buffer.alloc(stats.size)
    const length = readSync(descriptor, buffer, 0, stats.size, 0)
    return buffer.subarray(0, length)
  } catch {
    // It is gone, closed, a link, or leased. Callers treat what they cannot read as they must.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

async function openWithoutFollowing(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw errnoOf(error) === 'ELOOP' ? irregular(path, 'is a symbolic link') : error
  }
}

function irregular(path: string, why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `${shortPath(path)} ${why}.`, {
    hint: 'Look who made it and why; then remove it.',
    details: { path },
  })
}
