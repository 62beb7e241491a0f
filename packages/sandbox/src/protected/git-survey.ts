import { type Dirent, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { readWithoutWaiting, statsIfThere } from '../system/index.ts'
import { contentMark, isSettled, settlesAt } from './change-time.ts'
import {
  type GitEntry,
  type GitReport,
  type GitVerdict,
  gitRuleOf,
  isJudgedByContent,
  judgeGitChanges,
  judgeIndexInSteps,
  judgeRefTableInSteps,
  MAX_INDEX_BYTES,
} from './git/index.ts'
import { hashBytesOf, judgeGitFile } from './git-folder.ts'
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

const PAUSE_EVERY_MS = 5

/** The state of a file of git, and what to do about it. */
interface CheckedFile {
  readonly state: string
  readonly verdict: GitVerdict
}

/** Judges files that git writes during its normal work, each time they have changed. */
export class GitChecks {
  readonly #known = new Map<string, CheckedFile>()
  readonly #stats = new StatCache()
  #pauseAt = 0

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
    if (!isSame && performance.now() > this.#pauseAt) {
      await setImmediate()
      this.#pauseAt = performance.now() + PAUSE_EVERY_MS
    }
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
  let sliceEnds = performance.now() + PAUSE_EVERY_MS
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() < sliceEnds) continue
    await setImmediate()
    sliceEnds = performance.now() + PAUSE_EVERY_MS
  }
}

/** Something that a command may do, and that the owner should know about. */
export interface PlaceReport {
  /** The git folder, or the link. */
  readonly path: string
  readonly about: GitReport['about'] | 'checkout' | 'unread' | 'outside' | 'protected'
  /** The ref, the path in the work tree, or where the link leads. */
  readonly name: string
  /** The hash of its content, where another content is something new. */
  readonly hash?: string
}

const MAX_SHOWN = 5

/** Describes reports, one sentence for all of one kind. */
export function describeReports(reports: readonly PlaceReport[]): string[] {
  const groups = new Map<string, PlaceReport[]>()
  for (const report of reports) {
    const key = isLink(report) ? report.about : `${report.about} ${report.path}`
    const group = groups.get(key)
    if (group) group.push(report)
    else groups.set(key, [report])
  }
  return [...groups.values()].map((group) => SENTENCES[group[0]!.about](group[0]!.path, shown(group)))
}

function isLink({ about }: PlaceReport): boolean {
  return about === 'outside' || about === 'protected'
}

function shown(group: readonly PlaceReport[]): string {
  const names = group
    .slice(0, MAX_SHOWN)
    .map((report) => (isLink(report) ? `${report.path} → ${report.name}` : report.name))
  const more = group.length - names.length
  return JSON.stringify(names.join(', ')).slice(1, -1) + (more > 0 ? ` and ${more} more` : '')
}

const SENTENCES: Readonly<Record<PlaceReport['about'], (gitFolder: string, names: string) => string>> = {
  replace: (at, names) =>
    `A command made git show other commits in place of these in ${at}: ${names}. Undo it with git replace -d.`,
  shadow: (at, names) =>
    `A command created ${names} in ${at}, which git uses instead of the branch or tag of the same name.`,
  hidden: (at, names) =>
    `A command hid changes to these files from git status and git diff in ${at}: ${names}. Run touch on them, then git status shows them.`,
  'assume-unchanged': (at, names) =>
    `A command made git hide changes to these files in ${at}: ${names}. Undo it with git update-index --no-assume-unchanged.`,
  'skip-worktree': (at, names) =>
    `A command made git ignore these files of the work tree in ${at}: ${names}. Undo it with git update-index --no-skip-worktree.`,
  split: (at) =>
    `A command split the index in ${at}: it is not known whether git commit commits what git diff --cached shows. Build it anew with git update-index --no-split-index and git reset.`,
  submodule: (at, names) =>
    `A command added submodules to the index in ${at}: ${names}. Git enters them, and git fetch contacts their remotes.`,
  'run-later': (at, names) =>
    `A command staged ${names} in ${at}, which other programs run: git restore and git checkout would write it. Look at it with git diff --cached.`,
  cache: (at, names) =>
    `A command added to the index in ${at}: ${names}. What it leaves out, git status does not show. Undo it with git update-index --no-untracked-cache --no-fsmonitor.`,
  autostash: (at, names) =>
    `A command left stashed changes in ${at}, which git commit, git merge or git rebase writes to the working tree: ${names}. Look at them with git stash show -p and the hash in it, or remove it.`,
  exclude: (at, names) =>
    `A command changed ${names} in ${at}: git status does not show new files that match it. git status --ignored does.`,
  shallow: (at, names) =>
    `A command changed ${names} in ${at}: git log does not show commits before those in it. Remove it unless this is a shallow clone.`,
  unchecked: (at, names) =>
    `A command left more in ${at} than can be compared with its hashes: ${names}. Check it with git fsck, and files of the work tree with touch and git status.`,
  checkout: (at, names) =>
    `A command moved or created refs in ${at} that have files that other programs run, and that you do not have: ${names}. Your git checkout, git merge or git stash pop would write them. Look at them first with git show REF:PATH.`,
  unread: (at, names) =>
    `A command moved or created refs in ${at} whose files could not be read completely, or are too many: ${names}. Look at them with git diff --stat HEAD REF before you check them out or merge them.`,
  outside: (_at, names) =>
    `A command left links that lead out of the roots: ${names}. Programs that write there follow them.`,
  protected: (_at, names) =>
    `A command left links to protected paths: ${names}. Programs of yours that write there change what others run.`,
}

/** The reports of a verdict, for the git folder. */
export function reportsOf(gitFolder: string, verdict: GitVerdict): PlaceReport[] {
  if (verdict.is !== 'reported') return []
  return verdict.reports.map((report) => ({ path: gitFolder, ...report }))
}
