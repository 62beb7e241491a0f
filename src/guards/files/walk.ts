import { closeSync } from 'node:fs'
import { posix } from 'node:path'
import { ToolError } from '../../errors.ts'
import { type Link, openFolder, readLink, statAt } from './at-descriptor.ts'
import type { Roots, Target } from './open-roots.ts'
import { quotePath } from './quote-path.ts'

const MAX_LINKS = 8

/** Walks to a path, starting again at a root for each link that stays inside, until `arrive` returns no link. */
export function followLinks<T extends object>(roots: Roots, path: string, arrive: (target: Target) => T | Link): T {
  let target = roots.locate(path)
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const arrived = arrive(target)
    if (!('link' in arrived)) return arrived
    target = roots.locateLink(arrived.link, target)
  }
  throw new ToolError('PATH_DENIED', `${quotePath(path)} leads over more than ${MAX_LINKS} links.`)
}

/**
 * Opens the folders above a target one name at a time and gives the last one to `use`, with the target's own name.
 * A link on the way is returned with its absolute destination; undefined means that a folder is missing.
 */
export function inParent<T>(target: Target, use: (descriptor: number, name: string) => T): T | Link | undefined {
  const { root, names } = target
  const last = names.length - 1
  let descriptor = root.descriptor
  try {
    for (let index = 0; index < last; index += 1) {
      const next = openFolder(descriptor, names[index]!)
      if (typeof next !== 'number') return next && destination(target, index, next)
      if (descriptor !== root.descriptor) closeSync(descriptor)
      descriptor = next
    }
    return use(descriptor, names[last] ?? '.')
  } finally {
    if (descriptor !== root.descriptor) closeSync(descriptor)
  }
}

/** The target itself when no link is in the way, as far as it exists; the first link otherwise. */
export function findLink(target: Target): Target | Link {
  const found = inParent(target, (descriptor, name) => {
    return statAt(descriptor, name)?.isSymbolicLink() ? lastLink(target, descriptor, name) : undefined
  })
  return found ?? target
}

/** The destination of a target that turned out to be a link itself. */
export function lastLink(target: Target, descriptor: number, name: string): Link | undefined {
  const link = readLink(descriptor, name)
  return link && destination(target, target.names.length - 1, link)
}

/** Stops a change that would go through a link, telling where the link leads when that is inside. */
export function refuseLink(roots: Roots, { link }: Link, target: Target): never {
  const { path } = roots.locateLink(link, target)
  throw new ToolError('PATH_DENIED', `${quotePath(target.path)} goes through a link; changes do not follow links.`, {
    hint: `Use the path it leads to: ${path}`,
  })
}

/** The absolute path that a link among a target's names leads to. The names before it were walked, so they are real. */
export function destination({ root, names }: Target, index: number, { link }: Link): Link {
  return { link: posix.resolve(root.path, ...names.slice(0, index), link, ...names.slice(index + 1)) }
}
