import { commonGitFolder } from './git-folder.ts'
import type { ObjectCheckOptions } from './git-objects.ts'
import { changedRefs, type GitRefs, type RefFile, RefReader, refValue, resolveRef } from './git-refs.ts'
import type { PlaceReport } from './git-survey.ts'
import { ObjectReader, UncheckedObject } from './object-content.ts'
import { TreeWalk } from './tree-walk.ts'

/** Of commits and trees, in one check: at most some seconds of work. */
const MAX_WORK_BYTES = 64 * 1024 ** 2

/**
 * Finds refs that commands have moved or created and that lead to files that other programs run: commands cannot write
 * them, but the owner's next `git switch`, `git merge` or `git stash pop` would.
 */
export class RefChecks {
  readonly #refs = new RefReader()
  readonly #verdicts = new Map<string, readonly PlaceReport[]>()
  #before: ReadonlyMap<string, GitRefs> | undefined

  /** Call before the first command starts: what refs lead to now is the owner's. */
  async begin(files: readonly RefFile[], gitFolders: readonly string[]): Promise<void> {
    this.#verdicts.clear()
    this.#before = await this.#refs.read(files, gitFolders)
  }

  /** Returns what was found since then. */
  async check(
    files: readonly RefFile[],
    gitFolders: readonly string[],
    options: ObjectCheckOptions,
  ): Promise<PlaceReport[]> {
    const before = this.#before
    if (!before) return []
    const now = await this.#refs.read(files, gitFolders, options.changedSinceMs)
    const reader = new ObjectReader(MAX_WORK_BYTES)
    const reports: PlaceReport[] = []
    for (const [gitFolder, refs] of now) {
      const changed = await changedRefs(before.get(gitFolder), refs)
      if (changed.size === 0) continue
      const common = commonGitFolder(gitFolder)
      const commitIn = (all: typeof before, value?: string) => resolveRef(value, [all.get(gitFolder), all.get(common)])
      const heads = [gitFolder, common].map((folder) => commitIn(before, refValue(before.get(folder), 'HEAD')))
      const walk = new TreeWalk(gitFolder, reader)
      for (const [name, value] of changed) {
        const commit = commitIn(now, value)
        const earlier = commitIn(before, refValue(before.get(gitFolder), name))
        if (commit === undefined || commit === earlier) continue
        const key = `${gitFolder} ${name} ${commit}`
        const verdict = this.#verdicts.get(key) ?? (await judge(walk, [commit, earlier, ...heads], name, options))
        // What is missing may be written a moment later.
        if (verdict) this.#verdicts.set(key, verdict)
        reports.push(...(verdict ?? []))
      }
    }
    return reports
  }
}

/** Returns undefined if something is missing or wrong, which counts after the last command only. */
async function judge(
  walk: TreeWalk,
  [commit, ...bases]: readonly [string, ...(string | undefined)[]],
  name: string,
  { changedSinceMs, isLast }: ObjectCheckOptions,
): Promise<PlaceReport[] | undefined> {
  const ref = name.split(' ', 1)[0]!
  try {
    const reports: PlaceReport[] = []
    for (const file of await walk.find(commit, bases, ref === 'refs/stash')) {
      if (await walk.isOwners(file, changedSinceMs)) continue
      reports.push({ path: walk.gitFolder, about: 'checkout', name: `${file.path} (${ref})`, hash: file.hash })
    }
    return reports
  } catch (error) {
    const isKnown = isLast || error instanceof UncheckedObject
    return isKnown ? [{ path: walk.gitFolder, about: 'unread', name: ref, hash: commit }] : undefined
  }
}
