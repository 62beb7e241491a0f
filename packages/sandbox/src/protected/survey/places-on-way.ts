import { readlinkSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { errnoOf, isWithin } from '@tool-hub/core/lib'
import { realPath, UNREACHABLE } from '../../system/index.ts'
import { kindOfEntry, type PlaceReport, type ProtectedPlace } from '../checks/index.ts'
import { statsAt } from '../disk/index.ts'
import { isPlainWay } from '../git/index.ts'
import { foldName, isClosedToCommands } from '../names/index.ts'

const MAX_LINKS = 8

/** What is at an exact path in the roots; a link on the way, which could be redirected, is another place. */
export function placesOnWay(roots: readonly string[], path: string, linksLeft = MAX_LINKS): ProtectedPlace[] {
  const root = roots.find((candidate) => path.startsWith(`${candidate}/`))
  if (root === undefined || linksLeft === 0) return []
  let at = root
  for (const name of relative(root, dirname(path)).split('/').filter(Boolean)) {
    at = join(at, name)
    const [place] = placesAt(at)
    if (!place) return []
    if (place.link === undefined) continue
    const target = join(resolve(dirname(at), place.link), relative(at, path))
    const behind = placesOnWay(roots, target, linksLeft - 1).map((found) => ({ behind: at, ...found }))
    return [{ ...place, isOnWay: true }, ...behind]
  }
  return placesAt(path)
}

/** The place at a path, if anything is there. */
export function placesAt(
  path: string,
  { isGit = false, refusal }: { isGit?: boolean; refusal?: string } = {},
): ProtectedPlace[] {
  const stats = statsAt(path)
  if (!stats) return []
  const link = stats.isSymbolicLink() ? { link: readlinkSync(path) } : {}
  return [{ path, isGit, ...link, ...(refusal !== undefined && { state: kindOfEntry(stats), refusal }) }]
}

/**
 * Reports links that lead out of the roots, or to a place that is closed to commands: programs that write to the file in
 * the roots write there.
 */
export function reportLinks(roots: readonly string[], links: readonly (string | Buffer)[]): PlaceReport[] {
  return links.flatMap((link): PlaceReport[] => {
    const name = readLink(link)
    if (name === undefined) return []
    const path = link.toString()
    const target = targetOf(link, name)
    const targets = [target, realPath(target)]
    if (targets.some((each) => !roots.some((root) => isWithin(root, each)))) return [{ path, about: 'outside', name }]
    return targets.some((each) => isClosedBelow(roots, each)) ? [{ path, about: 'protected', name }] : []
  })
}

function isClosedBelow(roots: readonly string[], path: string): boolean {
  const root = roots.find((each) => isWithin(each, path))!
  let folder = root
  return relative(root, path)
    .split('/')
    .some((name) => {
      const isClosed = isClosedToCommands(name, folder) || foldName(name) === '.git'
      folder = join(folder, name)
      return isClosed
    })
}

function targetOf(link: string | Buffer, name: string): string {
  const target = resolve(dirname(link.toString()), name)
  if (isPlainWay(name)) return target
  try {
    return realpathSync.native(link)
  } catch {
    // Nothing is there yet: a program that writes there could create it.
    return target
  }
}

function readLink(path: string | Buffer): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    // It has been removed or replaced since its folder was read.
    if (UNREACHABLE.has(errnoOf(error)) || errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}
