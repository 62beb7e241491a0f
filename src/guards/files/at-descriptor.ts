import { type BigIntStats, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { errnoOf } from '../../disk/errno.ts'
import { fileAccess } from './access/choose-access.ts'

/** Where the text of a link leads. */
export interface Link {
  readonly link: string
}

/** One name below an open folder, for a step that `fileAccess` runs. */
export function atDescriptor(descriptor: number, name: string): string {
  return fileAccess.at(descriptor, name)
}

/** Opens the folder `name` below `descriptor`, or says that it is a link, or (undefined) that there is nothing. */
export function openFolder(descriptor: number, name: string): number | Link | undefined {
  try {
    return fileAccess.openFolder(descriptor, fileAccess.at(descriptor, name))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    const link = NOT_A_FOLDER.has(errnoOf(error)) ? readLink(descriptor, name) : undefined
    if (link) return link
    throw error
  }
}

const NOT_A_FOLDER = new Set(['ENOTDIR', 'ELOOP'])

/** Opens the file `name` below `descriptor`; a link is not followed. */
export function openAt(descriptor: number, name: string, flags: number): number {
  return fileAccess.open(descriptor, fileAccess.at(descriptor, name), flags)
}

/** What `name` below `descriptor` is, never what a link leads to; undefined when there is nothing. */
export function statAt(descriptor: number, name: string): Stats | undefined {
  return fileAccess.stat(descriptor, fileAccess.at(descriptor, name))
}

/** The same with exact times. */
export function exactStatAt(descriptor: number, name: string): BigIntStats | undefined {
  return fileAccess.statBig(descriptor, fileAccess.at(descriptor, name))
}

/** The text of the link `name` below `descriptor`; undefined when it is no link. */
export function readLink(descriptor: number, name: string): Link | undefined {
  const path = fileAccess.at(descriptor, name)
  try {
    return { link: fileAccess.look(descriptor, () => readlinkSync(path), isEqual) }
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}

/** The names in an open folder. */
export function namesAt(descriptor: number): string[] {
  const path = fileAccess.at(descriptor, '.')
  return fileAccess.look(descriptor, () => readdirSync(path), isSameList)
}

/** Whether two looks at a folder have found the same names. */
export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.join('/') === b.join('/')
}

function isEqual(a: string, b: string): boolean {
  return a === b
}
