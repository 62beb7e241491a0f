import { accessSync, constants, type Dirent, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { messageOf, ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { UNREACHABLE } from '../../system/index.ts'
import {
  isClosedInGit,
  isGitFolder,
  isHarmlessGitFile,
  isNestedGit,
  isStateFolder,
  placesNamedByConfig,
  stateFilesIn,
} from './git-folder.ts'
import { withOpened } from './open-below.ts'
import {
  foldName,
  holdsClosed,
  isClosedToCommands,
  isHiddenFromCommands,
  refuseProtected,
  type Unnameable,
  unnameableIn,
} from './protected-names.ts'

/** Something at a protected place. */
export interface ProtectedPlace {
  readonly path: string
  /** Where it leads, if it is a link. */
  readonly link?: string
  /** A file of git: a command may create it as long as it runs nothing. */
  readonly isGit: boolean
  /** A link on the way to a protected place: its target may be changed, but the link may not. */
  readonly isOnWay?: boolean
  /** The link that makes it protected: it is protected only if that link is the owner's. */
  readonly behind?: string
}

/** The current content of the roots; complete, however many files there are. */
export interface SurveyFindings {
  /** By path: what commands may not change. */
  readonly places: ReadonlyMap<string, ProtectedPlace>
  /** Files and folders that commands do not see. */
  readonly secrets: readonly string[]
  /** Folders of other users that can be entered but not listed: commands do not see them, whatever they contain. */
  readonly unlisted: readonly string[]
  /** The git folders, such as `.git`. */
  readonly gitFolders: readonly string[]
  /** Why some of it could not be checked; absent if everything was. */
  readonly problem?: Error
}

/** What a survey searches for. */
export interface SurveyOptions {
  /** Real paths. */
  readonly roots: readonly string[]
  /** Exact real paths that are protected in addition to names, whether they exist or not. */
  readonly exact: readonly string[]
  /** Real paths that commands do not see at all: nothing below them needs to be checked. */
  readonly hidden: readonly string[]
}

interface Folder {
  readonly path: string
  /** Its change time when it was read; absent while it must be read again. */
  changedMs?: number
  folders: readonly Folder[]
  places: readonly ProtectedPlace[]
  /** Exact paths that are protected because of a git config in this folder. */
  named: readonly string[]
  secrets: readonly string[]
  /** Files of git that commands may write as long as they run nothing: checked each time, since their content matters. */
  states: readonly string[]
  /** Read each time: changes in them do not change this folder's time. */
  unnameable: readonly Unnameable[]
  isUnlisted: boolean
  isGit: boolean
  /** Below `modules` or `worktrees` of git, where every folder can be a git folder. */
  readonly isNested: boolean
}

const SLICE_MS = 5
/** Clocks of file systems are coarse: a folder that changed this recently may change again without a new time. */
const COARSE_MS = 50
const MAX_LINKS = 8
/** Code of the project itself, rewritten by package managers: not searched. */
const SKIPPED = new Set(['node_modules'])

/**
 * Finds what commands must not change or see in the roots, by walking all of them. Folders whose change time is the same
 * are not read again; a command can set the modification time of a folder, but not its change time.
 */
export class Survey {
  readonly #options: SurveyOptions
  readonly #hidden: ReadonlySet<string>
  readonly #roots: Folder[]
  #looking: Promise<SurveyFindings> | undefined
  #next: Promise<SurveyFindings> | undefined

  constructor(options: SurveyOptions) {
    this.#options = options
    this.#hidden = new Set(options.hidden)
    this.#roots = options.roots.map((root) => folderAt(root, false))
  }

  /** Checks everything that has changed until now. */
  look(): Promise<SurveyFindings> {
    // A request during a survey waits for the next one: the first may have passed the change already.
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

  async #look(): Promise<SurveyFindings> {
    const places = new Map<string, ProtectedPlace>()
    const secrets: string[] = []
    const unlisted: string[] = []
    const gitFolders: string[] = []
    const exact = [...this.#options.exact]
    let problem: Error | undefined
    let sliceEnds = performance.now() + SLICE_MS
    const open = [...this.#roots]
    for (let folder = open.pop(); folder; folder = open.pop()) {
      if (performance.now() > sliceEnds) {
        await setImmediate()
        sliceEnds = performance.now() + SLICE_MS
      }
      try {
        this.#refresh(folder)
        for (const place of folder.states.flatMap(harmfulState)) places.set(place.path, place)
        for (const found of folder.unnameable) refuseProtected(found)
      } catch (error) {
        // What is found elsewhere still counts.
        folder.changedMs = undefined
        problem ??= cannotLook(folder.path, error)
      }
      for (const place of folder.places) places.set(place.path, place)
      secrets.push(...folder.secrets)
      exact.push(...folder.named)
      if (folder.isUnlisted) unlisted.push(folder.path)
      if (folder.isGit) gitFolders.push(folder.path)
      open.push(...folder.folders)
    }
    for (const path of exact) {
      try {
        for (const place of this.#placesOnWay(path)) {
          if (place.behind === undefined || !places.has(place.path)) places.set(place.path, place)
        }
      } catch (error) {
        problem ??= cannotLook(path, error)
      }
    }
    return { places, secrets: secrets.toSorted(), unlisted, gitFolders: gitFolders.toSorted(), problem }
  }

  #refresh(folder: Folder): void {
    const stats = statsAt(folder.path)
    const isThere = stats?.isDirectory() === true
    if (isThere && stats.ctimeMs === folder.changedMs) return
    folder.changedMs = isThere && Date.now() - stats.ctimeMs > COARSE_MS ? stats.ctimeMs : undefined
    // A command of this user can open a closed folder of this user at any time; those of others stay closed to it.
    if (isThere && (stats.mode & SEARCHABLE) !== SEARCHABLE) withOpened(this.#options.roots, folder.path, () => {})
    folder.isUnlisted = false
    this.#sort(folder, isThere ? this.#list(folder, stats) : [])
  }

  #list(folder: Folder, { uid }: Stats): Dirent[] {
    try {
      return readdirSync(folder.path, { withFileTypes: true })
    } catch (error) {
      if (UNREACHABLE.has(errnoOf(error))) return []
      if (errnoOf(error) !== 'EACCES' || isUs(uid) || this.#options.roots.includes(folder.path)) throw error
      folder.isUnlisted = canEnter(folder.path)
      return []
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
      const isNested = isGit ? isNestedGit(entry.name) : folder.isNested
      const kind = (isGit && kindInGit(entry, parent)) || kindOf(entry, parent, isNested)
      if (kind === 'closed' || kind === 'git') places.push(...asList(placeAt(path, kind === 'git')))
      if (kind === 'folder') folders.push(known.get(path) ?? folderAt(path, isNested))
    }
    const named = isGit ? placesNamedByConfig(folder.path, dirname(folder.path)) : []
    const states = isGit ? stateFilesIn(names).map((file) => join(folder.path, file)) : []
    const unnameable = unnameableIn(folder.path, names)
    Object.assign(folder, { folders, places, secrets, isGit, named, states, unnameable })
  }

  /** What is at an exact path in the roots; a link on the way, which could be redirected, is another place. */
  #placesOnWay(path: string, linksLeft = MAX_LINKS): ProtectedPlace[] {
    const root = this.#options.roots.find((candidate) => path.startsWith(`${candidate}/`))
    if (root === undefined || linksLeft === 0) return []
    let at = root
    for (const name of relative(root, dirname(path)).split('/').filter(Boolean)) {
      at = join(at, name)
      const place = placeAt(at, false)
      if (!place) return []
      if (place.link === undefined) continue
      const target = join(resolve(dirname(at), place.link), relative(at, path))
      const behind = this.#placesOnWay(target, linksLeft - 1).map((found) => ({ behind: at, ...found }))
      return [{ ...place, isOnWay: true }, ...behind]
    }
    return asList(placeAt(path, false))
  }
}

function isSecret(entry: Dirent): boolean {
  const isFolder = entry.isDirectory()
  return (isFolder || entry.isFile()) && isHiddenFromCommands(entry.name, isFolder)
}

type Kind = 'closed' | 'git' | 'folder' | 'ordinary'

function kindOf(entry: Dirent, parent: string, isNested: boolean): Kind {
  if (isClosedToCommands(entry.name, parent)) return 'closed'
  if (entry.isDirectory()) return SKIPPED.has(entry.name) && !isNested ? 'ordinary' : 'folder'
  if (foldName(entry.name) === '.git') return 'git'
  if (!entry.isSymbolicLink()) return 'ordinary'
  // Nothing behind a link is searched, so no link may be where other programs expect something.
  if (isNested) return 'git'
  return holdsClosed(entry.name) ? 'closed' : 'ordinary'
}

/** Undefined for other entries: a git folder may also contain ordinary files. */
function kindInGit(entry: Dirent, parent: string): Kind | undefined {
  if (isClosedInGit(entry.name)) return 'git'
  if (isNestedGit(entry.name)) return entry.isDirectory() ? 'folder' : 'git'
  // State behind a link could be changed there.
  if (isStateFolder(entry.name) && entry.isSymbolicLink()) return 'git'
  return parent === '.git' ? 'ordinary' : undefined
}

function harmfulState(path: string): ProtectedPlace[] {
  const place = placeAt(path, true)
  return place && !isHarmlessGitFile(path) ? [place] : []
}

function asList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}

function placeAt(path: string, isGit: boolean): ProtectedPlace | undefined {
  const stats = statsAt(path)
  if (!stats) return undefined
  return { path, isGit, ...(stats.isSymbolicLink() && { link: readlinkSync(path) }) }
}

function folderAt(path: string, isNested: boolean): Folder {
  const none = { folders: [], places: [], named: [], secrets: [], states: [], unnameable: [] }
  return { path, ...none, isUnlisted: false, isGit: false, isNested }
}

/** Readable and searchable for its owner. */
const SEARCHABLE = 0o500

/** Synchronous: a command waits for it, and a thousand folders take 2 ms this way, ten times as much otherwise. */
function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (UNREACHABLE.has(errnoOf(error)) || (errnoOf(error) === 'EACCES' && isClosedByAnother(path))) return undefined
    throw error
  }
}

/**
 * Whether the folder on the way that cannot be entered belongs to another user, so that commands cannot enter it either.
 * One of this user was closed by a command a moment ago, which can open it again: that nothing is there is not known.
 */
function isClosedByAnother(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return !isUs(lstatSync(folder).uid) && !canEnter(folder)
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') return false
    }
  }
  return false
}

function isUs(uid: number): boolean {
  return uid === process.geteuid?.()
}

function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch (error) {
    return errnoOf(error) !== 'EACCES'
  }
}

function cannotLook(path: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error
  return new ToolError('SANDBOX_UNAVAILABLE', `Protected places in ${path} cannot be found: ${messageOf(error)}.`, {
    hint: 'No command runs until they can. End background commands that change the folder, or make it readable for the user of the hub.',
    cause: error,
  })
}
