import type { Sandbox } from '../../core/index.ts'
import { expandHome, lookAtFolder } from '../../system/index.ts'

/**
 * The sandbox roots by which tools read skills and commands run their scripts; nobody changes them. A folder that another
 * user can write to counts as content from outside. One that is not there is left out.
 */
export function skillRoots(folders: readonly string[]): NonNullable<Sandbox['roots']> {
  return folders.flatMap((folder) => {
    const path = expandHome(folder)
    const found = lookAtFolder(path)
    return found ? [{ path, mode: 'read' as const, ...(found.distrust && { untrusted: true }) }] : []
  })
}
