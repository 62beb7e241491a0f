import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { isBelow } from '../../files/open-roots.ts'
import { quotePath } from '../../files/quote-path.ts'
import { splitPath } from '../../files/split-path.ts'

/** Where commands may work. */
export interface Places {
  /** As the owner wrote them; the first is where commands work that do not say. */
  readonly roots: readonly string[]
  /** Real paths that commands do not see. */
  readonly hidden: readonly string[]
}

/**
 * The real path of the folder that a command is to work in; it is there and inside the roots. Whatever takes its place
 * afterwards is found inside the jail, where nothing else is to be seen.
 */
export function findPlace(cwd: string | undefined, { roots, hidden }: Places): string {
  if (cwd !== undefined) splitPath(cwd)
  const path = resolve(roots[0]!, cwd ?? '.')
  const reals = roots.map((root) => realPath(root))
  // By its text first: a path outside must not tell whether something is there.
  if (![...roots, ...reals].some((root) => isBelow(path, resolve(root)))) throw outside(cwd ?? path, roots)
  const real = realPath(path, cwd)
  if (!reals.some((root) => isBelow(real, root))) throw outside(cwd ?? path, roots)
  if (hidden.some((folder) => isBelow(real, folder))) throw denied(cwd ?? path)
  if (!statSync(real, { throwIfNoEntry: false })?.isDirectory()) throw missing(path, cwd)
  return real
}

function realPath(path: string, said?: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    throw missing(path, said, error)
  }
}

function missing(path: string, said = path, cause?: unknown): ToolError {
  const why = errnoOf(cause) === 'EACCES' ? 'cannot be entered' : 'is no folder that exists'
  return new ToolError('NOT_FOUND', `The working folder ${quotePath(said)} ${why}.`, {
    hint: 'Use a folder below a root, or leave cwd out.',
    cause,
  })
}

function outside(path: string, roots: readonly string[]): ToolError {
  return new ToolError('PATH_OUTSIDE_SANDBOX', `The working folder ${quotePath(path)} is outside the sandbox roots.`, {
    hint: `Use a folder relative to ${roots[0]}, or leave cwd out.`,
  })
}

function denied(path: string): ToolError {
  return new ToolError('PATH_DENIED', `The working folder ${quotePath(path)} is protected.`, {
    hint: 'Use another folder below a root.',
  })
}
