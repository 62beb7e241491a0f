import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { type ErrorCode, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { closedToFileTools } from '../protected/protected-names.ts'
import type { FilesCall, Roots } from './files-root.ts'

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

/** Replaces the real path in an error by the path that the caller wrote. */
export function asWritten(error: unknown, path: string, roots: Roots): unknown {
  if (!ToolError.is(error)) return error
  const real = realPath(path, roots)
  if (real === undefined || !error.message.includes(real)) return error
  const { code, fix, details, retryable, cause } = error
  return new ToolError(code, error.message.replaceAll(real, quotePath(path)), { fix, details, retryable, cause })
}

function realPath(path: string, roots: Roots): string | undefined {
  try {
    return quotePath(roots.locate(path).path)
  } catch {
    // The path is invalid, and the error already says so.
    return undefined
  }
}

const MISSING = / does not exist\.$/
const PRIVATE_HINT =
  'This run has a private folder, which is empty. The owner of the hub can give tools another folder with --root DIR or sandbox.root.'
const HINT = 'To give tools that folder, start with --root . or set sandbox.root.'

/** Adds to NOT_FOUND which root was searched, and whether the current folder has the path. */
export function explainMissing(error: unknown, path: string, roots: Roots, call: FilesCall): unknown {
  if (!ToolError.is(error) || error.code !== 'NOT_FOUND' || !MISSING.test(error.message)) return error
  const message = error.message.replace(MISSING, ` does not exist in ${searched(path, roots)}.`)
  const outside = inCurrentFolder(path, roots, call)
  const { fix, details, retryable, cause } = error
  const otherwise = isEmptyAndPrivate(path, roots, call) ? PRIVATE_HINT : fix.hint
  const hint = outside === undefined ? otherwise : `${outside} exists, but tools do not see it. ${HINT}`
  return new ToolError('NOT_FOUND', message, { fix: { ...fix, hint }, details, retryable, cause })
}

/** After a search without a result in an empty root: notifies the caller that the current folder has the path, or that the root is private. */
export function noticeOutside(path: string, roots: Roots, call: FilesCall): void {
  if (isEmptyAndPrivate(path, roots, call)) call.notice?.(PRIVATE_HINT)
  const outside = inCurrentFolder(path, roots, call)
  if (outside === undefined || readdirSync(roots.locate(path).root.path).length > 0) return
  call.notice?.(`Tools see only ${searched(path, roots)}, not ${outside}. ${HINT}`)
}

/** Whether the caller, who is not the owner, sees only an empty folder of this run. */
function isEmptyAndPrivate(path: string, roots: Roots, { isOwner }: FilesCall): boolean {
  if (isOwner) return false
  const { root } = roots.locate(path)
  return root.isPrivate && readdirSync(root.path).length === 0
}

function searched(path: string, roots: Roots): string {
  return roots.locate(path).root.said
}

/** The same path below the current folder of the process, if it exists there and is in no root. */
function inCurrentFolder(path: string, roots: Roots, { isOwner }: FilesCall): string | undefined {
  const names = normalize(path).split('/')
  // Only the owner may learn which files exist there; secrets are never mentioned.
  if (!isOwner || isAbsolute(path) || names.includes('..') || closedToFileTools(names, 'read')) return undefined
  const outside = join(process.cwd(), path)
  return existsSync(outside) && !isSeen(outside, roots) ? outside : undefined
}

function isSeen(path: string, roots: Roots): boolean {
  try {
    roots.locate(path)
    return true
  } catch {
    // Outside of every root.
    return false
  }
}
