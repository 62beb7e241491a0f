import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { ToolError } from '../../errors.ts'
import { closedToFileTools } from '../protected/protected-names.ts'
import type { FilesCall } from './files-door.ts'
import type { Roots } from './open-roots.ts'

const MISSING = / does not exist\.$/
const PRIVATE_HINT =
  'This run has a private folder, which is empty. The owner of the hub can give tools another folder with --root DIR or sandbox.root.'
const HINT = 'To give tools that folder, start with --root . or set sandbox.root.'

/** A path that is missing: the error names the root that was searched, and says when the current folder has the path. */
export function namePlace(error: unknown, path: string, roots: Roots, call: FilesCall): unknown {
  if (!ToolError.is(error) || error.code !== 'NOT_FOUND' || !MISSING.test(error.message)) return error
  const message = error.message.replace(MISSING, ` does not exist in ${searched(path, roots)}.`)
  const outside = inCurrentFolder(path, roots, call)
  const { fix, details, retryable, cause } = error
  const otherwise = isEmptyAndPrivate(path, roots, call) ? PRIVATE_HINT : fix.hint
  const hint = outside === undefined ? otherwise : `${outside} exists, but tools do not see it. ${HINT}`
  return new ToolError('NOT_FOUND', message, { fix: { ...fix, hint }, details, retryable, cause })
}

/** A search without a result in an empty root: a notice says that the current folder has the place, or that the root is private. */
export function noticeOutside(path: string, roots: Roots, call: FilesCall): void {
  if (isEmptyAndPrivate(path, roots, call)) call.notice?.(PRIVATE_HINT)
  const outside = inCurrentFolder(path, roots, call)
  if (outside === undefined || readdirSync(roots.locate(path).root.path).length > 0) return
  call.notice?.(`Tools see only ${searched(path, roots)}, not ${outside}. ${HINT}`)
}

/** Whether all that the caller, who is not the owner, can see is a folder of this run in which nothing is yet. */
function isEmptyAndPrivate(path: string, roots: Roots, { isOwner }: FilesCall): boolean {
  if (isOwner) return false
  const { root } = roots.locate(path)
  return root.isPrivate && readdirSync(root.path).length === 0
}

function searched(path: string, roots: Roots): string {
  return roots.locate(path).root.said
}

/** The same path below the current folder of the process, where it is there and no root holds it. */
function inCurrentFolder(path: string, roots: Roots, { isOwner }: FilesCall): string | undefined {
  const names = normalize(path).split('/')
  // Others must not learn which files the owner has; secrets are not named to anybody.
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
