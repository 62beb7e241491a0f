import { ToolError } from '../../../errors.ts'
import { isBelow, type Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'

/** Refuses a path that can only mean a folder where a file is to be written. */
export function refuseFolderName({ names, saysFolder, path }: Target): void {
  if (names.length > 0 && !saysFolder) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is a folder, not a file.`)
}

/** Refuses to move or remove a root: the ground that everything else stands on. */
export function refuseRoot({ names, path }: Target): void {
  if (names.length > 0) return
  throw new ToolError('PATH_DENIED', `${quotePath(path)} is a root of the sandbox; it stays where it is.`)
}

/** Refuses to put a folder into itself. */
export function refuseIntoItself(from: Target, to: Target): void {
  if (to.path === from.path || !isBelow(to.path, from.path)) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(to.path)} is inside of ${quotePath(from.path)}.`, {
    hint: 'Choose a place outside of the folder.',
  })
}
