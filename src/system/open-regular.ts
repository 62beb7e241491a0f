import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ToolError } from '../core/index.ts'
import { errnoOf, shortPath } from '../lib/index.ts'

/** Opens a regular file for reading; refuses a link, and does not wait for a pipe or read a device. */
export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await openUnfollowed(path)
  try {
    if ((await handle.stat()).isFile()) return handle
    throw irregular(path, 'is not a regular file')
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The beginning of a regular file as text. */
export async function readRegular(path: string, maxBytes: number): Promise<string> {
  const handle = await openRegular(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function openUnfollowed(path: string): Promise<FileHandle> {
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
