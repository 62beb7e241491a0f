import { accessSync, constants, type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, isWithin } from '@tool-hub/core/lib'
import { TimeSlice } from '../../system/index.ts'
import { contentMark, isSettled } from '../disk/index.ts'
import { addAll } from './survey-folder.ts'

/** A folder as it was when it was last read. */
interface KnownFolder {
  /** Undefined while it must be read again. */
  readonly state?: string
  readonly folders: readonly string[]
  readonly endpoints: readonly string[]
}

/** They may be large, such as those of language toolchains, and no command changes them. */
const FRESH_MS = 5_000

/**
 * Finds sockets and pipes in folders that commands can only read: a read-only mount stops nobody from connecting.
 * What appears there is found within five seconds. A socket that the owner names itself is meant to be used.
 */
export class ReadableEndpoints {
  readonly #folders: readonly string[]
  readonly #hidden: readonly string[]
  #known = new Map<string, KnownFolder>()
  #found: { readonly at: number; readonly endpoints: Promise<readonly string[]> } | undefined

  constructor(folders: readonly string[], hidden: readonly string[]) {
    this.#folders = folders
    this.#hidden = hidden
  }

  look(): Promise<readonly string[]> {
    if (!this.#found || performance.now() - this.#found.at > FRESH_MS)
      this.#found = { at: performance.now(), endpoints: this.#look() }
    return this.#found.endpoints
  }

  async #look(): Promise<readonly string[]> {
    const known = new Map<string, KnownFolder>()
    const found: string[] = []
    const open = [...this.#folders]
    const slice = new TimeSlice()
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (slice.isOver) await slice.pause()
      const folder =
        known.has(path) || this.#hidden.some((each) => isWithin(each, path!)) ? undefined : this.#read(path)
      if (!folder) continue
      known.set(path, folder)
      addAll(found, folder.endpoints)
      addAll(open, folder.folders)
    }
    this.#known = known
    return found
  }

  /** Undefined for what is not a folder. */
  #read(path: string): KnownFolder | undefined {
    try {
      const stats = lstatSync(path)
      const state = contentMark(stats)
      const before = this.#known.get(path)
      if (before?.state === state) return before
      const entries = readdirSync(path, { withFileTypes: true })
      const pathsOf = (some: readonly Dirent[]) => some.map(({ name }) => join(path, name))
      return {
        state: isSettled(stats) ? state : undefined,
        folders: pathsOf(entries.filter((entry) => entry.isDirectory())),
        endpoints: pathsOf(entries.filter(isEndpoint)),
      }
    } catch (error) {
      const isUnlisted = errnoOf(error) === 'EACCES' && !this.#folders.includes(path) && canEnter(path)
      return isUnlisted ? { folders: [], endpoints: [path] } : undefined
    }
  }
}

/** Commands would find what is in such a folder by its name: it is hidden as a whole. */
function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether something may listen there: a socket or a pipe. */
export function isEndpoint(entry: Dirent): boolean {
  return entry.isSocket() || entry.isFIFO()
}
