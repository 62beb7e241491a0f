import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { ToolError } from '../../errors.ts'
import { closedToFileTools } from '../protected/protected-names.ts'
import type { FilesCall } from './files-door.ts'
import type { Roots } from './open-roots.ts'

const MISSING = / does not exist\.$/
const HINT = 'To give tools that folder, start with --root . or set sandbox.root.'

/** A path that is missing: the error names the root that was searched, and says when the current folder has the path. */
export function namePlace(error: unknown, path: string, roots: Roots, call: FilesCall): unknown {
  if (!ToolError.is(error) || error.code !== 'NOT_FOUND' || !MISSING.test(error.message)) return error
  const message = error.message.replace(MISSING, ` does not exist in ${searched(path, roots)}.`)
  const outside = inCurrentFolder(path, roots, call)
  const { fix, details, retryable, cause } = error
  const hint = outside === undefined ? fix.hint : `${outside} exists, but tools do not see it. ${HINT}`
  return new ToolError('NOT_FOUND', message, { fix: { ...fix, hint }, details, retryable, cause })
}

/** A search without a result in an empty root: the call gets a notice when the current folder has the place. */
export function noticeOutside(path: string, roots: Roots, call: FilesCall): void {
  const outside = inCurrentFolder(path, roots, call)
  if (outside === undefined || readdirSync(roots.locate(path).root.path).length > 0) return
  call.notice?.(`Tools see only ${searched(path, roots)}, not ${outside}. ${HINT}`)
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
