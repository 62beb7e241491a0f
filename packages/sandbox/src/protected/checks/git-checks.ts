import { type Dirent, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { readWithoutWaiting, statsIfThere, TimeSlice } from '../../system/index.ts'
import { contentMark, isSettled, settlesAt } from '../disk/index.ts'
import {
  type GitEntry,
  type GitVerdict,
  gitRuleOf,
  isJudgedByContent,
  judgeGitChanges,
  judgeIndexInSteps,
  judgeRefTableInSteps,
  MAX_INDEX_BYTES,
} from '../git/index.ts'
import { hashBytesOf, judgeGitFile } from '../repository/index.ts'
import { type PlaceReport, reportsOf } from './place-report.ts'
import { StatCache, workTreeOf } from './stat-cache.ts'

/** A folder in a git folder, or the git folder itself. */
export interface GitTree {
  readonly gitFolder: string
  /** The path from the git folder to this folder, with a slash at its end; empty for the git folder itself. */
  readonly below: string
  readonly isStrict: boolean
  /** Whether the git folder is one of a submodule: those of others, named `NAME/OTHER`, can be inside. */
  readonly isNested?: boolean
}

/** What a survey does about an entry of a git folder. */
interface GitSorted {
  /**
   * `git` is closed to commands, and judged by its content if it is new; `checked` is judged each time it has changed.
   * Undefined for what may also be a file of somebody else.
   */
  readonly kind?: 'git' | 'checked' | 'nested' | 'folder' | 'ordinary'
  readonly tree?: GitTree
  readonly refusal?: string
  readonly reports?: readonly PlaceReport[]
}

const NOTHING_KNOWN = { isKnown: () => false, mayBeWorkTree: () => false, isSurveyed: () => true }

/** Sorts an entry of a git folder without its content. Returns undefined for what may be none of git's. */
export function sortGitEntry(tree: GitTree, entry: Dirent): GitSorted | undefined {
  const path = tree.below + entry.name
  const rule = gitRuleOf(path)
  if (rule === 'closed') return { kind: 'git' }
  const kind = kindOfEntry(entry)
  if (kind === 'folder' && (rule === 'nested' || (rule === 'unknown' && tree.isNested && tree.below === '')))
    return { kind: 'nested' }
  if (rule === 'unknown' && !tree.isStrict) return undefined
  if (kind === 'file' && isJudgedByContent(path)) return { kind: 'checked' }
  const verdict = judgeGitChanges([{ path, kind }], { ...NOTHING_KNOWN, ...tree, hashBytes: 20 })[0]!
  return {
    kind: tree.isStrict ? (kind === 'folder' ? 'folder' : 'ordinary') : undefined,
    tree: kind === 'folder' ? { ...tree, below: `${path}/` } : undefined,
    refusal: verdict.is === 'refused' ? verdict.reason : undefined,
    reports: reportsOf(tree.gitFolder, verdict),
  }
}

/** Why something whose name is not valid UTF-8 may not be in a folder of git, and what identifies it. */
export function refuseUnnameable(
  tree: GitTree,
  path: Buffer,
): { readonly refusal: string; readonly state: string; readonly link?: string } | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats || !(tree.isStrict || tree.below !== '')) return undefined
  const kind = kindOfEntry(stats)
  const link = kind === 'link' ? readlinkSync(path, 'latin1') : undefined
  if (kind !== 'file') return { refusal: 'has a name that is not valid UTF-8: it cannot be checked', state: kind, link }
  const entry = {
    path: path.toString().slice(tree.gitFolder.length + 1),
    kind,
    read: (maxBytes: number) => readWithoutWaiting(path, maxBytes),
  }
  const [verdict] = judgeGitChanges([entry], { ...NOTHING_KNOWN, ...tree, hashBytes: 20 })
  return verdict?.is === 'refused' ? { refusal: verdict.reason, state: contentMark(stats) } : undefined
}

/** What something on disk is for git. */
export function kindOfEntry(entry: Dirent | Stats): GitEntry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** The state of a file of git, and what to do about it. */
interface CheckedFile {
  readonly state: string
  readonly verdict: GitVerdict
}

/** Judges files that git writes during its normal work, each time they have changed. */
export class GitChecks {
  readonly #known = new Map<string, CheckedFile>()
  readonly #stats = new StatCache()
  readonly #slice = new TimeSlice()

  /**
   * Returns undefined if the file does not exist. Files that changed after `since` are judged again even if their time is the
   * same: a command that has mapped a file into memory changes it without a new time.
   */
  async check(
    path: string,
    tree: GitTree,
    { since, isOwners }: { readonly since: number; readonly isOwners: boolean },
  ): Promise<CheckedFile | undefined> {
    const stats = statsIfThere(path)
    const known = this.#known.get(path)
    this.#known.delete(path)
    if (!stats) return undefined
    const state = contentMark(stats)
    const isSame = known?.state === state && settlesAt(stats) < since
    if (!isSame && this.#slice.isOver) await this.#slice.pause()
    const found = isSame ? known : { state, verdict: await this.#judge(path, tree, isOwners) }
    if (isSettled(stats)) this.#known.set(path, found)
    return found
  }

  async #judge(path: string, { gitFolder, isStrict }: GitTree, isOwners: boolean): Promise<GitVerdict> {
    const context = {
      ...NOTHING_KNOWN,
      gitFolder,
      isStrict,
      // Read for an index only: there can be thousands of refs.
      get hashBytes() {
        return hashBytesOf(gitFolder)
      },
    }
    const rule = gitRuleOf(path.slice(gitFolder.length + 1))
    const isLarge = rule === 'index' || rule === 'packed-refs' || rule === 'reftable'
    const bytes = isLarge ? readWithoutWaiting(path, MAX_INDEX_BYTES) : undefined
    if (!bytes) return judgeGitFile(path, context)
    if (rule !== 'index') return takeStepsLater(judgeRefTableInSteps(bytes, rule))
    const cache = this.#stats.open(path, isOwners)
    const options = { visit: cache.visit, workTree: workTreeOf(path) }
    const verdict = await takeStepsLater(judgeIndexInSteps(bytes, context, options))
    const hidden = verdict.is === 'refused' ? [] : await cache.findHidden()
    if (hidden.length === 0) return verdict
    return { is: 'reported', reports: verdict.is === 'reported' ? [...verdict.reports, ...hidden] : hidden }
  }
}

/** Takes all steps, and lets other work run between them. */
async function takeStepsLater<T>(steps: Generator<undefined, T>): Promise<T> {
  const slice = new TimeSlice()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (slice.isOver) await slice.pause()
  }
}
