import { posix } from 'node:path'
import { ToolError } from '../../../errors.ts'
import type { Access, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { type ByteName, toText } from './tree-entries.ts'

/** The target of an entry below another one; it may belong to a root inside of that root. */
export function entryBelow({ roots }: FilesDoor, top: Target, names: readonly ByteName[]): Target {
  return names.length === 0 ? top : roots.locateLink(posix.join(top.path, ...names.map(toText)), top)
}

/** Whether a target is open by default. */
export function isAdmitted(door: FilesDoor, target: Target, access: Access): boolean {
  try {
    door.admit(target, access)
    return true
  } catch (error) {
    if (ToolError.is(error)) return false
    throw error
  }
}
