import { type Dirent, readdirSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { errnoOf } from '../../disk/errno.ts'
import { statsIfThere } from '../../disk/stats-if-there.ts'
import { isClosedInGit, isGitFolder, isNestedGit, placesNamedByConfig } from './git-folder.ts'
import { withOpened } from './open-below.ts'
import { foldName, isClosedToCommands, isHiddenFromCommands } from './protected-names.ts'

/** Something at a protected place. */
export interface ProtectedPlace {
  readonly path: string
  /** Where it leads, if it is a link. */
  readonly link?: string
  /** What git reads: a command may make it as long as it runs nothing. */
  readonly isGit: boolean
}

/** What the roots hold right now; complete, however many files there are. */
export interface Findings {
  /** By path: what commands may not change. */
  readonly places: ReadonlyMap<string, ProtectedPlace>
  /** Files and folders that commands do not see. */
  readonly secrets: readonly string[]
  /** The folders of git, such as `.git`. */
  readonly gitFolders: readonly string[]
}

/** What is looked for. */
export interface SurveyOptions {
  /** Real paths. */
  readonly roots: readonly string[]
  /** Exact real paths that are protected in addition to names, whether they exist or not. */
  readonly exact: readonly string[]
  /** Real paths that commands do not see as a whole: nothing below them needs to be looked at. */
  readonly hidden: readonly string[]
}

interface Folder {
  readonly path: string
  /** Its change time when it was read; absent while it must be read again. */
  changedMs?: number
  folders: readonly Folder[]
  places: readonly ProtectedPlace[]
  secrets: readonly string[]
  isGit: boolean
}

const SLICE_MS = 5
/** Clocks of file systems are coarse: a folder that changed this recently may change again without a new time. */
const COARSE_MS = 50
/** Code of the project itself, rewritten by package managers: not looked into. */
const SKIPPED = new Set(['node_modules'])

/**
 * Finds what commands must not change or see in the roots, by walking all of them. Folders whose change time is as before
 * are not read again; a command can set the modification time of a folder, but not its change time.
 */
export class Survey {
  readonly #options: SurveyOptions
  readonly #hidden: ReadonlySet<string>
  readonly #roots: Folder[]
  #looking: Promise<Findings> | undefined
  #next: Promise<Findings> | undefined

  constructor(options: SurveyOptions) {
    this.#options = options
    this.#hidden = new Set(options.hidden)
    this.#roots = options.roots.map(folderAt)
  }

  /** Looks at everything that changed until now. */
  look(): Promise<Findings> {
    // Whoever asks while a look is under way waits for another one: the first may have passed the change already.
    if (this.#looking) {
      this.#next ??= this.#looking
        .catch(() => undefined)
        .then(() => {
          this.#next = undefined
          return this.look()
        })
      return this.#next
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<Findings> {
    const places = new Map<string, ProtectedPlace>()
    const secrets: string[] = []
    const gitFolders: string[] = []
    let sliceEnds = performance.now() + SLICE_MS
    const open = [...this.#roots]
    for (let folder = open.pop(); folder; folder = open.pop()) {
      if (performance.now() > sliceEnds) {
        await setImmediate()
        sliceEnds = performance.now() + SLICE_MS
      }
      this.#refresh(folder)
      for (const place of folder.places) places.set(place.path, place)
      secrets.push(...folder.secrets)
      if (folder.isGit) gitFolders.push(folder.path)
      open.push(...folder.folders)
    }
    for (const path of this.#options.exact) {
      const place = placeAt(path, false)
      if (place) places.set(path, place)
    }
    return { places, secrets: secrets.toSorted(), gitFolders: gitFolders.toSorted() }
  }

  #refresh(folder: Folder): void {
    const changedMs = changeTime(folder.path)
    if (changedMs !== undefined && changedMs === folder.changedMs) return
    folder.changedMs = changedMs !== undefined && Date.now() - changedMs > COARSE_MS ? changedMs : undefined
    this.#sort(folder, changedMs === undefined ? [] : this.#list(folder.path))
  }

  #list(folder: string): Dirent[] {
    try {
      return readdirSync(folder, { withFileTypes: true })
    } catch (error) {
      const code = errnoOf(error)
      if (code === 'ENOENT' || code === 'ENOTDIR') return []
      if (code !== 'EACCES') throw error
      // A command of this user can open a closed folder of this user at any time; those of others stay closed to it.
      const { roots } = this.#options
      return withOpened(roots, folder, (path) => readdirSync(path, { withFileTypes: true })) ?? []
    }
  }

  #sort(folder: Folder, entries: readonly Dirent[]): void {
    const known = new Map(folder.folders.map((child) => [child.path, child]))
    const names = new Set(entries.map(({ name }) => name))
    const parent = folder.path.slice(folder.path.lastIndexOf('/') + 1)
    const isGit = foldName(parent) === '.git' || isGitFolder(names)
    const folders: Folder[] = []
    const places: ProtectedPlace[] = []
    const secrets: string[] = []
    for (const entry of entries) {
      const path = join(folder.path, entry.name)
      if (this.#hidden.has(path)) continue
      if (isSecret(entry)) secrets.push(path)
      const kind = isGit ? kindInGit(entry) : kindOf(entry, parent)
      if (kind === 'closed' || kind === 'git') places.push(...asList(placeAt(path, kind === 'git')))
      if (kind === 'folder') folders.push(known.get(path) ?? folderAt(path))
    }
    if (isGit) {
      const named = placesNamedByConfig(folder.path, dirname(folder.path)).filter((path) => this.#isInRoots(path))
      places.push(...named.flatMap((path) => asList(placeAt(path, false))))
    }
    Object.assign(folder, { folders, places, secrets, isGit })
  }

  #isInRoots(path: string): boolean {
    return this.#options.roots.some((root) => path.startsWith(`${root}/`))
  }
}

function isSecret(entry: Dirent): boolean {
  const isFolder = entry.isDirectory()
  return (isFolder || entry.isFile()) && isHiddenFromCommands(entry.name, isFolder)
}

type Kind = 'closed' | 'git' | 'folder' | 'ordinary'

function kindOf(entry: Dirent, parent: string): Kind {
  if (isClosedToCommands(entry.name, parent)) return 'closed'
  if (!entry.isDirectory()) return foldName(entry.name) === '.git' ? 'git' : 'ordinary'
  return SKIPPED.has(entry.name) ? 'ordinary' : 'folder'
}

function kindInGit(entry: Dirent): Kind {
  if (isClosedInGit(entry.name)) return 'git'
  return entry.isDirectory() && isNestedGit(entry.name) ? 'folder' : 'ordinary'
}

function asList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}

function placeAt(path: string, isGit: boolean): ProtectedPlace | undefined {
  const stats = statsIfThere(path)
  if (!stats) return undefined
  return { path, isGit, ...(stats.isSymbolicLink() && { link: readlinkSync(path) }) }
}

function folderAt(path: string): Folder {
  return { path, folders: [], places: [], secrets: [], isGit: false }
}

/** Synchronous: a command waits for it, and a thousand folders take 2 ms this way, ten times as much otherwise. */
function changeTime(folder: string): number | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.ctimeMs
  } catch (error) {
    // On its way something became a file or a link to itself: it is not there.
    if (['ENOTDIR', 'ELOOP', 'EACCES'].includes(errnoOf(error))) return undefined
    throw error
  }
}
