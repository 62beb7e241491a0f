import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { closedToFileTools } from '../protected/names/index.ts'
import { quotePath } from './file-error.ts'
import type { FilesCall } from './files-call.ts'
import type { Roots } from './roots.ts'

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
