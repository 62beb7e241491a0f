import { isWithin } from '../../is-within.ts'
import { nodeFolder } from '../jail/node-folder.ts'

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Whether a program in a jail sees a real path: the system, Node, and what was granted. */
export function isSeen(path: string, granted: readonly string[]): boolean {
  const node = nodeFolder()
  return [...SYSTEM, ...(node ? [node] : []), ...granted].some((folder) => isWithin(folder, path))
}
