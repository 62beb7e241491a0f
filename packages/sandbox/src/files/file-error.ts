import { type ErrorCode, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'

const MEANINGS = new Map<string, readonly [ErrorCode, string]>([
  ['ENOENT', ['NOT_FOUND', 'does not exist']],
  ['ENOTDIR', ['NOT_FOUND', 'does not exist: a part of it is a file, not a folder']],
  ['EEXIST', ['CONFLICT', 'exists already']],
  ['EISDIR', ['INPUT_SCHEMA_INVALID', 'is a folder, not a file']],
  ['ENAMETOOLONG', ['INPUT_SCHEMA_INVALID', 'is too long for this file system']],
  ['EACCES', ['PATH_DENIED', 'is refused by the operating system']],
  ['EPERM', ['PATH_DENIED', 'is refused by the operating system']],
  ['EROFS', ['PATH_DENIED', 'is on a read-only file system']],
  ['ELOOP', ['PATH_DENIED', 'became a link while it was opened']],
  ['ENXIO', ['PATH_DENIED', 'is a socket or a device, not a regular file']],
  ['ENOSPC', ['OUT_OF_RESOURCES', 'could not be written: the disk is full']],
  ['EDQUOT', ['OUT_OF_RESOURCES', 'could not be written: the disk quota is used up']],
  ['EMFILE', ['OUT_OF_RESOURCES', 'could not be opened: too many files are open']],
  ['ENFILE', ['OUT_OF_RESOURCES', 'could not be opened: too many files are open']],
  ['ENOMEM', ['OUT_OF_RESOURCES', 'could not be used: there is not enough memory']],
])

/** Turns an error of the file system into one for the caller; returns any other error unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  if (ToolError.is(error) || !(error instanceof Error) || !('syscall' in error)) return error
  const errno = errnoOf(error)
  const [code, meaning] = MEANINGS.get(errno) ?? ['UPSTREAM_ERROR', `failed with ${errno}`]
  return new ToolError(code, `${quotePath(path)} ${meaning}.`, { cause: error })
}

const MAX_LENGTH = 200

/** A path for a message: quoted, shortened, control characters escaped. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH)}…` : path)
}
