import { readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '@tool-hub/core/lib'
import { contentMark, settlesAt, statsAt } from '../disk/index.ts'
import { countPacked, readPackIndexInSteps } from '../git/index.ts'
import { hashBytesOf } from '../repository/index.ts'
import type { GitTree } from './git-checks.ts'
import {
  type FilePart,
  gitHash,
  ObjectReader,
  PackContent,
  readPart,
  UncheckedObject,
  WrongObject,
  withFile,
} from './object-content.ts'
import type { PlaceReport, ProtectedPlace } from './place-report.ts'

/** Which objects are checked. */
export interface ObjectCheckOptions {
  /** Those that have changed since then; commands cannot set the change time. */
  readonly changedSinceMs: number
  /** Whether no command runs any more. Default: false. */
  readonly isLast?: boolean
}

/** What was found in a folder of objects. */
interface ObjectFindings {
  readonly places: readonly ProtectedPlace[]
  readonly reports: readonly PlaceReport[]
}

type Verdict = 'fine' | 'wrong' | 'unchecked'

const FOLDER = /^objects\/([0-9a-f]{2}|pack)\/$/i
const LOOSE = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/i
/** Only `git fsck` compares it with the packs. */
const INDEX_OF_SEVERAL = '/multi-pack-index'
const REFUSAL = 'does not contain what its name says'
/** Programs that copy a repository need not write its files in one step. */
const PATIENCE_MS = 10_000
/** An index with more objects is not read: it would take seconds. */
const MAX_PACKED = 250_000
const MAX_INDEX_BYTES = 64 * 1024 ** 2

/** Whether objects of git are in a folder of a git folder. */
export function holdsObjects({ below }: GitTree): boolean {
  return FOLDER.test(below)
}

/**
 * Checks that objects of git have the content that their names say, since git itself does not look when it writes a work
 * tree or copies them: loose ones, and those in packs with an index.
 */
export class GitObjects {
  /** By name and state: what was checked since the last command began. */
  readonly #fine = new Set<string>()
  /** By name and state: what was too much to be checked, and is reported once. */
  readonly #unchecked = new Set<string>()
  /** By path: what could not be set aside yet, and its state. */
  readonly #wrong = new Map<string, string>()
  #reader = new ObjectReader()

  /** Call before each check of all folders. */
  begin({ isLast = false }: Partial<ObjectCheckOptions> = {}): void {
    this.#reader = new ObjectReader()
    // A command that has mapped a file into memory changes it without a new time.
    if (isLast) this.#fine.clear()
    for (const path of this.#wrong.keys()) if (!statsAt(path)) this.#wrong.delete(path)
  }

  /** Checks what is in a folder of objects. */
  async check(folder: string, tree: GitTree, options?: ObjectCheckOptions): Promise<ObjectFindings> {
    const places: ProtectedPlace[] = []
    const reports: PlaceReport[] = []
    const isPack = tree.below.toLowerCase() === 'objects/pack/'
    if (!options && this.#wrong.size === 0) return { places, reports }
    for (const name of namesIn(folder)) {
      if (!(isPack ? isPackIndex(name) : LOOSE.test(name))) continue
      const path = join(folder, name)
      const verdict = await this.#verdictOn(path, name.endsWith('.idx') ? packOf(path) : undefined, tree, options)
      if (verdict?.is === 'wrong') places.push({ path, isGit: true, state: verdict.state, refusal: REFUSAL })
      if (verdict?.is === 'unchecked')
        reports.push({ path: tree.gitFolder, about: 'unchecked', name: tree.below + name })
    }
    return { places, reports }
  }

  async #verdictOn(
    path: string,
    pack: string | undefined,
    tree: GitTree,
    options: ObjectCheckOptions | undefined,
  ): Promise<{ readonly is: Verdict; readonly state: string } | undefined> {
    const stats = [path, ...(pack === undefined ? [] : [pack])].map((each) => statsAt(each))
    const known = this.#wrong.get(path)
    this.#wrong.delete(path)
    // Without its pack, git does not read an index.
    if (!stats.every((each): each is Stats => each?.isFile() === true)) return undefined
    const state = stats.map(contentMark).join(' ')
    const changedMs = Math.max(...stats.map(settlesAt))
    if (known !== state) {
      const key = `${tree.below} ${path.slice(path.lastIndexOf('/') + 1)} ${state}`
      if (!options || changedMs < options.changedSinceMs || this.#fine.has(key)) return undefined
      const is = await this.#judge(path, pack, tree)
      if (is === 'fine') this.#fine.add(key)
      if (is === 'unchecked' && !this.#unchecked.has(key)) {
        this.#unchecked.add(key)
        return { is, state }
      }
      if (is !== 'wrong') return undefined
      if (!options.isLast && Date.now() - changedMs < PATIENCE_MS) return undefined
    }
    this.#wrong.set(path, state)
    return { is: 'wrong', state }
  }

  async #judge(path: string, pack: string | undefined, { gitFolder }: GitTree): Promise<Verdict | undefined> {
    try {
      if (path.toLowerCase().endsWith(INDEX_OF_SEVERAL)) return 'unchecked'
      if (pack === undefined) await withFile(path, (file) => this.#checkLoose(file, path))
      else
        await withFile(path, (index) => withFile(pack, (file) => this.#checkPack(index, file, hashBytesOf(gitFolder))))
      return 'fine'
    } catch (error) {
      if (error instanceof UncheckedObject) return 'unchecked'
      // What cannot be read is not known to be right.
      return errnoOf(error) === 'ENOENT' ? undefined : 'wrong'
    }
  }

  async #checkLoose(file: FilePart, path: string): Promise<void> {
    const name = path.split('/').slice(-2).join('').toLowerCase()
    const hash = gitHash(name.length / 2)
    await this.#reader.spend()
    await this.#reader.hashInflated(file, hash)
    if (hash.digest('hex') !== name) throw new WrongObject()
  }

  async #checkPack(index: FilePart, pack: FilePart, hashBytes: number): Promise<void> {
    if (index.end > MAX_INDEX_BYTES) throw new UncheckedObject('The index of the pack is too large.')
    const bytes = readPart(index)
    if ((countPacked(bytes) ?? 0) > MAX_PACKED) throw new UncheckedObject('The pack has too many objects.')
    const steps = readPackIndexInSteps(bytes, hashBytes)
    let step = steps.next()
    for (; !step.done; step = steps.next()) await this.#reader.spend()
    const read = step.value
    if (!read) throw new WrongObject()
    await new PackContent(pack, read, hashBytes, this.#reader).check()
  }
}

function isPackIndex(name: string): boolean {
  return name.endsWith('.idx') || `/${name.toLowerCase()}` === INDEX_OF_SEVERAL
}

/** The pack of an index. */
function packOf(index: string): string {
  return `${index.slice(0, -'.idx'.length)}.pack`
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    // It was found a moment ago, and has been removed or replaced since; the next check finds that.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
    throw error
  }
}
