import { dirname, join } from 'node:path'
import { readWithoutWaiting, statsIfThere } from '../../system/index.ts'
import { settlesAt } from '../disk/index.ts'
import { holdsClosed, isClosedToCommands } from '../names/index.ts'
import { commonGitFolder } from '../repository/index.ts'
import type { ObjectCheckOptions } from './git-objects.ts'
import { changedRefs, type GitRefs, type RefFile, RefReader, refValue, resolveRef } from './git-refs.ts'
import { type GitTreeEntry, GitTrees } from './git-trees.ts'
import { gitHash, ObjectReader, UncheckedObject } from './object-content.ts'
import type { PlaceReport } from './place-report.ts'
import { workTreeOf } from './stat-cache.ts'

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

/** A file that other programs run, in a tree. */
interface FoundFile {
  readonly path: string
  /** The path, or that of the folder around it, whose name is in the list. */
  readonly closed: string
  readonly hash: string
}

const MAX_FILE_BYTES = 1024 ** 2
/** How many folders may be in each other. */
const MAX_DEPTH = 200
const MAX_FOUND = 1_000
/** How many entries are compared in one step, and what each costs. */
const STEP_ENTRIES = 200
const ENTRY_BYTES = 128

/** Compares the trees of commits with those that the owner had. */
class TreeWalk {
  readonly gitFolder: string
  readonly #reader: ObjectReader
  readonly #trees: GitTrees
  readonly #workTree: string | undefined
  /** Most refs lead to the same trees. */
  readonly #done = new Map<string, readonly FoundFile[]>()

  constructor(gitFolder: string, reader: ObjectReader) {
    this.gitFolder = gitFolder
    this.#reader = reader
    this.#trees = new GitTrees(gitFolder, reader)
    this.#workTree = workTreeOf(join(gitFolder, 'index'))
  }

  /** The files that other programs run and that none of the other commits has. */
  async find(commit: string, bases: readonly (string | undefined)[], isStash: boolean): Promise<FoundFile[]> {
    const known = new Set<string>()
    for (const base of new Set(bases)) {
      const trees = base === undefined ? [] : await orNone(this.#trees.treesOf(base, false))
      for (const tree of trees) known.add(tree)
    }
    const found: FoundFile[] = []
    for (const tree of await this.#trees.treesOf(commit, isStash))
      if (!known.has(tree)) found.push(...(await this.#below(tree, [...known], { folder: '', depth: 0 })))
    return found
  }

  async #below(
    tree: string,
    bases: readonly string[],
    { folder, closed, depth }: { readonly folder: string; readonly closed?: string; readonly depth: number },
  ): Promise<readonly FoundFile[]> {
    const key = `${tree} ${bases.join(' ')} ${folder}`
    const done = this.#done.get(key)
    if (done) return done
    if (depth > MAX_DEPTH) throw new UncheckedObject('A folder is too deep.')
    await this.#reader.spend()
    const inBases = await this.#entriesOf(bases)
    const found: FoundFile[] = []
    for (const [index, { name, kind, hash, mark }] of (await this.#trees.entriesOf(tree)).entries()) {
      if (index % STEP_ENTRIES === STEP_ENTRIES - 1) await this.#reader.spend(STEP_ENTRIES * ENTRY_BYTES)
      const same = inBases.get(name) ?? []
      if (same.some((entry) => entry.mark === mark)) continue
      const path = folder + name
      const closedHere = closed ?? this.#closedOn(folder, name, kind)
      if (kind === 'tree') {
        const trees = same.filter((entry) => entry.kind === 'tree').map((entry) => entry.hash)
        found.push(...(await this.#below(hash, trees, { folder: `${path}/`, closed: closedHere, depth: depth + 1 })))
      } else if (closedHere !== undefined) found.push({ path, closed: closedHere, hash })
      if (found.length > MAX_FOUND) throw new UncheckedObject('There are too many files.')
    }
    this.#done.set(key, found)
    return found
  }

  async #entriesOf(trees: readonly string[]) {
    const byName = new Map<string, GitTreeEntry[]>()
    for (const tree of trees) {
      for (const [index, entry] of (await orNone(this.#trees.entriesOf(tree))).entries()) {
        if (index % STEP_ENTRIES === STEP_ENTRIES - 1) await this.#reader.spend(STEP_ENTRIES * ENTRY_BYTES)
        const list = byName.get(entry.name)
        if (list) list.push(entry)
        else byName.set(entry.name, [entry])
      }
    }
    return byName
  }

  /** The path up to the first name that is in the list. A tree that git has not made can have names with slashes. */
  #closedOn(folder: string, name: string, kind: GitTreeEntry['kind']): string | undefined {
    let at = folder
    for (const part of name.split('/')) {
      if (isClosedToCommands(part, `${this.#workTree ?? ''}/${at}`.slice(0, -1))) return at + part
      if (kind === 'link' && holdsClosed(part)) return at + part
      at += `${part}/`
    }
    // A HEAD makes a repository of its folder: git then obeys the config next to it.
    return kind !== 'tree' && /(?:^|\/)head$/i.test(name) ? folder + name : undefined
  }

  /** Whether the owner has the same file there. No command can have made what has not changed since the first one began. */
  async isOwners({ path, closed, hash }: FoundFile, sinceMs: number): Promise<boolean> {
    if (this.#workTree === undefined) return false
    const file = join(this.#workTree, path)
    const end = dirname(join(this.#workTree, closed))
    for (let at = file; at.length > end.length; at = dirname(at)) {
      const stats = statsIfThere(at)
      if (!stats || settlesAt(stats) >= sinceMs || !(at === file ? stats.isFile() : stats.isDirectory())) return false
    }
    const bytes = readWithoutWaiting(file, MAX_FILE_BYTES)
    await this.#reader.spend(bytes?.length)
    if (!bytes) return false
    const sum = gitHash(hash.length / 2).update(`blob ${bytes.length}\0`)
    return sum.update(bytes).digest('hex') === hash
  }
}

/** What cannot be read has nothing that would be the same. */
async function orNone<T>(read: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await read
  } catch (error) {
    if (error instanceof UncheckedObject) throw error
    return []
  }
}
