import { errnoOf } from '../../disk/errno.ts'
import { type ErrorCode, ToolError } from '../../errors.ts'
import { quotePath } from './quote-path.ts'

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

/** What an error of the file system means for the caller; anything that is not one stays as it is. */
export function toFileError(error: unknown, path: string): unknown {
  if (ToolError.is(error) || !(error instanceof Error) || !('syscall' in error)) return error
  const errno = errnoOf(error)
  const [code, meaning] = MEANINGS.get(errno) ?? ['UPSTREAM_ERROR', `failed with ${errno}`]
  return new ToolError(code, `${quotePath(path)} ${meaning}.`, { cause: error })
}
