import { constants, openSync, readlinkSync } from 'node:fs'
import { errnoOf } from '../../disk/errno.ts'

/** Holds a place in the tree without reading it; Node does not export the constant. */
export const O_PATH = 0o10000000

const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Where the text of a link leads. */
export interface Link {
  readonly link: string
}

/** One name below an open folder: the kernel starts at the descriptor, so no earlier name is resolved again. */
export function atDescriptor(descriptor: number, name: string): string {
  return `/proc/self/fd/${descriptor}/${name}`
}

/** Opens the folder `name` below `descriptor`, or says that it is a link, or (undefined) that there is nothing. */
export function openFolder(descriptor: number, name: string): number | Link | undefined {
  try {
    return openSync(atDescriptor(descriptor, name), FOLDER)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    const link = errnoOf(error) === 'ENOTDIR' ? readLink(descriptor, name) : undefined
    if (link) return link
    throw error
  }
}

/** The text of the link `name` below `descriptor`; undefined when it is no link. */
export function readLink(descriptor: number, name: string): Link | undefined {
  try {
    return { link: readlinkSync(atDescriptor(descriptor, name)) }
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}
