import { closeSync, fstatSync } from 'node:fs'
import { type FindOptions, type FindResult, ToolError, throwIfAborted } from '@tool-hub/core'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import { CHILDREN_AT_ONCE, childrenOf } from '../read/list-folder.ts'
import type { FileTarget } from '../roots.ts'
import { type FolderChild, isSystemError, openFolder, statAt, WalkTurns } from '../walk.ts'
import { AFTER_SURROGATES } from './found-files.ts'
import { beginning, compileIgnoreRules, type IgnoreRules } from './ignore-rules.ts'
import { openPlace, readRulesAbove, readRulesIn } from './run-search.ts'
import { clampCount, type FileChoice, isNeverSearched, toFileChoice } from './search-job.ts'

/** Each level keeps a descriptor open while those below are searched. */
const MAX_DEPTH = 100

/** Finds files below a path by their names. */
export async function findFiles(
  root: FilesRoot,
  call: FilesCall,
  path: string,
  options: FindOptions,
): Promise<FindResult> {
  const choice = toFileChoice({ ...options, globs: [options.pattern] })
  const walk = new FindWalk(root, call, choice, clampCount(options.limit, 1000, 1, 100_000))
  const { target, descriptor, file, close } = openPlace(root.roots, path)
  try {
    root.pass(target, 'read', call)
    if (file !== undefined) return { files: [file], isComplete: true }
    const above = choice.includeIgnored ? '' : await readRulesAbove(target)
    const rules = above === '' ? [] : [{ decide: compileIgnoreRules(above), start: 0 }]
    await walk.find({ descriptor, target, depth: 1, prefix: '', rules })
    throwIfAborted(call.signal())
    return walk.result()
  } finally {
    close()
  }
}

/** The rules of one .gitignore file; `start` is where paths relative to its folder begin. */
interface FolderRules {
  readonly decide: IgnoreRules
  readonly start: number
}

/** A folder on the way down. */
interface Folder {
  readonly descriptor: number
  readonly target: FileTarget
  readonly depth: number
  /** What the paths of its files begin with: its own path below the searched folder and a slash. */
  readonly prefix: string
  /** The rules that apply to its entries, strongest first. */
  readonly rules: readonly FolderRules[]
}

/**
 * Walks a tree by descriptors, so that nothing that is swapped meanwhile leads outside. It reads names and types only: for
 * 10,000 files it takes half the time that ripgrep needs to start and to list them.
 */
class FindWalk {
  readonly #root: FilesRoot
  readonly #call: FilesCall
  readonly #choice: FileChoice
  readonly #globs: IgnoreRules
  readonly #maxFiles: number
  readonly #turns: WalkTurns
  readonly #files: string[] = []
  /** A name has characters that sort otherwise than their bytes. */
  #hasOtherOrder = false
  #isComplete = true

  constructor(root: FilesRoot, call: FilesCall, choice: FileChoice, maxFiles: number) {
    this.#root = root
    this.#call = call
    this.#choice = choice
    this.#globs = compileIgnoreRules(choice.globRules)
    this.#maxFiles = maxFiles
    this.#turns = new WalkTurns(call.signal())
  }

  /** Finds files in the order of their paths, so that a limit leaves out the last ones. */
  async find(entered: Folder): Promise<void> {
    const { folder, files, folders } = await this.#read(entered)
    let next = 0
    for (const below of folders) {
      for (; next < files.length && files[next]! < below; next += 1) this.#add(folder, files[next]!)
      if (this.#isFull()) return
      await this.#enter(folder, below)
    }
    for (; next < files.length && !this.#isFull(); next += 1) this.#add(folder, files[next]!)
  }

  /** The files sorted by the bytes of their paths. */
  result(): FindResult {
    if (this.#hasOtherOrder) this.#files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    return { files: this.#files, isComplete: this.#isComplete }
  }

  #add({ prefix }: Folder, name: string): void {
    if (this.#files.length < this.#maxFiles) this.#files.push(prefix + name)
    else this.#isComplete = false
  }

  /** Whether more files were found than may be returned. */
  #isFull(): boolean {
    return !this.#isComplete && this.#files.length === this.#maxFiles
  }

  /** Returns the files of a folder that are wanted and may be read, the folders to look into, and its rules. */
  async #read(entered: Folder): Promise<{ folder: Folder; files: string[]; folders: string[] }> {
    const folders: string[] = []
    let folder: Folder | undefined
    let files: string[] = []
    for (const batch of childrenOf(entered.descriptor, fstatSync(entered.descriptor).size, false)) {
      folder ??= this.#withOwnRules(entered, batch)
      const wanted: string[] = []
      const names: string[] = []
      for (const child of batch) {
        if (this.#isWanted(folder, child)) {
          if (child.type === 'directory') names.push(child.name)
          else wanted.push(child.name)
        }
        if (this.#turns.isOverSoon()) await this.#turns.give()
      }
      files = files.concat(this.#root.passNames(entered.target, wanted, this.#call))
      // The paths of what is found below show them.
      if (names.length > 0) this.#root.showNames(entered.target, names, this.#call)
      for (const name of names) folders.push(`${name}/`)
      // More of a large folder could not be returned.
      if (files.length > this.#maxFiles) break
    }
    // A small folder comes sorted, which makes this cheap.
    return { folder: folder ?? entered, files: files.sort(), folders: folders.sort() }
  }

  #withOwnRules(folder: Folder, firstBatch: readonly FolderChild[]): Folder {
    if (this.#choice.includeIgnored) return folder
    const mayHaveRules = firstBatch.length >= CHILDREN_AT_ONCE || firstBatch.some(({ name }) => name === '.gitignore')
    const text = mayHaveRules ? readRulesIn(folder.descriptor) : undefined
    if (text === undefined) return folder
    const own = { decide: compileIgnoreRules(beginning(text)), start: folder.prefix.length }
    return { ...folder, rules: [own, ...folder.rules] }
  }

  #isWanted(folder: Folder, { name, type }: FolderChild): boolean {
    const isFolder = type === 'directory'
    if (!isFolder && type !== 'file') return false
    if (name.startsWith('.') && !this.#choice.includeHidden) return false
    const path = folder.prefix + name
    const verdict = folder.rules.length === 0 ? undefined : verdictOf(folder, path, isFolder)
    if (verdict === 'ignore' || isNeverSearched(name)) return false
    // A .gitignore line such as `!keep` keeps a folder whatever weaker rules say; a file is chosen by the globs alone.
    if ((verdict === undefined || !isFolder) && this.#globs(path, isFolder) === 'ignore') return false
    if (AFTER_SURROGATES.test(name)) this.#hasOtherOrder = true
    // A name that is not UTF-8 can neither be returned nor requested.
    if (!name.includes('\ufffd') || statAt(folder.descriptor, name)) return true
    this.#isComplete = false
    return false
  }

  /** `below` is the name of the folder and a slash. */
  async #enter(above: Folder, below: string): Promise<void> {
    const name = below.slice(0, -1)
    const { path } = above.target
    // Another root may begin here; the deepest one decides.
    const target = this.#root.roots.locateLink(`${path === '/' ? '' : path}/${name}`, above.target)
    if (!this.#isAdmitted(target)) return
    const depth = above.depth + 1
    const descriptor = depth <= MAX_DEPTH ? this.#open(above, name) : undefined
    if (descriptor === undefined) {
      this.#isComplete = false
      return
    }
    try {
      await this.find({ descriptor, target, depth, prefix: above.prefix + below, rules: above.rules })
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.#isComplete = false
    } finally {
      closeSync(descriptor)
    }
  }

  /** Says nothing of secrets and of the hub's own folders. Policy decides on each file instead. */
  #isAdmitted(target: FileTarget): boolean {
    try {
      this.#root.admit(target, 'read')
      return true
    } catch (error) {
      if (ToolError.is(error)) return false
      throw error
    }
  }

  /** Undefined if it was removed, became a link meanwhile, or the system refuses it. */
  #open({ descriptor }: Folder, name: string): number | undefined {
    try {
      const folder = openFolder(descriptor, name)
      return typeof folder === 'number' ? folder : undefined
    } catch (error) {
      if (isUnreadable(error)) return undefined
      throw error
    }
  }
}

/** What the operating system refuses to show is left out, and what is exchanged meanwhile. */
function isUnreadable(error: unknown): boolean {
  return isSystemError(error) || (ToolError.is(error) && error.code === 'CONFLICT')
}

function verdictOf({ rules }: Folder, path: string, isFolder: boolean): ReturnType<IgnoreRules> {
  for (const { decide, start } of rules) {
    const verdict = decide(path.slice(start), isFolder)
    if (verdict !== undefined) return verdict
  }
  return undefined
}
