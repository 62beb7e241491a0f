import { basename, dirname, relative } from 'node:path'
import { isWithin } from '@tool-hub/core/lib'
import { realPath } from '../../system/index.ts'
import type { ProtectedPlace } from '../checks/index.ts'
import { type GitContext, gitRuleOf } from '../git/index.ts'
import { closedToFileTools, foldName } from '../names/index.ts'
import { hashBytesOf, isHarmlessGitLink, judgeGitFile } from '../repository/index.ts'
import type { SurveyFindings } from '../survey/index.ts'

/** Protected places by their path. */
export type Places = ReadonlyMap<string, ProtectedPlace>

/** The roots, and those of them that no command can change. */
export interface RootFolders {
  readonly roots: readonly string[]
  readonly readOnly: readonly string[]
}

type Surroundings = Pick<GitContext, 'isKnown' | 'mayBeWorkTree' | 'isSurveyed'>

/** Something that a command made and that may not stay. */
export interface Made {
  readonly path: string
  /** Its path as Latin-1, if it is not valid UTF-8. */
  readonly bytes?: string
  /** Why, if it is not its name alone; it completes a sentence. */
  readonly reason?: string
}

/** What did not exist before, or was something else, and could make a program run or write something. */
export function madeSince(before: Places, { places, gitFolders }: SurveyFindings, folders: RootFolders): Made[] {
  const known = new Set(gitFolders)
  const isKnown = (gitFolder: string) => known.has(gitFolder)
  const surroundings = {
    isKnown,
    mayBeWorkTree: (path: string) =>
      [path, realPath(path)].every((each) => mayBeWorkTree(each, { roots: folders.roots, isKnown })),
    // All of the roots are surveyed, and commands can write nowhere else.
    isSurveyed: () => true,
  }
  return [...places.values()].flatMap((place) => {
    const { path, bytes, refusal } = place
    if (isOnlyRead(path, folders) || isOwned(before, place)) return []
    const behind = place.behind === undefined ? undefined : places.get(place.behind)
    if (place.behind !== undefined && !(behind && isOwned(before, behind))) return []
    if (!place.isGit) return [{ path }]
    const reason = refusal ?? refusalOf(place, surroundings)
    return reason === undefined ? [] : [{ path, bytes, reason }]
  })
}

/** Why a new file that git runs or obeys may not stay. */
function refusalOf({ path, link }: ProtectedPlace, surroundings: Surroundings): string | undefined {
  if (foldName(basename(path)) === '.git') {
    const isHarmless = link === undefined && isHarmlessGitLink(path, surroundings.isKnown)
    return isHarmless ? undefined : 'leads git to a folder that is not a known git folder'
  }
  const gitFolder = innermostGitFolder(dirname(path), surroundings.isKnown) ?? dirname(path)
  const context = {
    ...surroundings,
    gitFolder,
    isStrict: true,
    // Read for an index only: there can be hundreds of repositories.
    get hashBytes() {
      return hashBytesOf(gitFolder)
    },
  }
  try {
    const verdict = judgeGitFile(path, context)
    return verdict.is === 'refused' ? verdict.reason : undefined
  } catch {
    // A folder that was swapped for a link or a file: only what is known to be harmless is.
    return 'cannot be read'
  }
}

/** Whether git may write files there: not where other programs run them, nor in a git folder among git's own. */
function mayBeWorkTree(path: string, { roots, isKnown }: { roots: readonly string[]; isKnown: GitContext['isKnown'] }) {
  const isOpen = (root: string) => closedToFileTools(relative(root, path).split('/'), 'write') === undefined
  const gitFolder = innermostGitFolder(path, isKnown)
  // The worktrees of a bare repository are often in its folder.
  const isBeside = gitFolder === undefined || (gitFolder !== path && gitRuleOf(relative(gitFolder, path)) === 'unknown')
  return isBeside && roots.some((root) => isWithin(root, path) && isOpen(root))
}

/** The innermost of the git folders that are known: it is the path itself, or around it. */
export function innermostGitFolder(path: string, isKnown: GitContext['isKnown']): string | undefined {
  for (let at = path; at !== dirname(at); at = dirname(at)) if (isKnown(at)) return at
  return undefined
}

/** Existing files and folders are mounted read-only; only a link, or what git writes, can have been replaced. */
export function isOwned(before: Places, place: ProtectedPlace): boolean {
  const owned = before.get(place.bytes ?? place.path)
  return owned !== undefined && owned.state === place.state && (owned.link === undefined || owned.link === place.link)
}

/** A root can be inside another one: the inner one counts. */
export function isOnlyRead(path: string, { roots, readOnly }: RootFolders): boolean {
  if (readOnly.length === 0) return false
  const [inner] = roots.filter((root) => isWithin(root, path)).sort((a, b) => b.length - a.length)
  return readOnly.includes(inner!)
}
