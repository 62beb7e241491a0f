import { type Dirent, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { messageOf, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { TimeSlice, UNREACHABLE } from '../../system/index.ts'
import {
  GitChecks,
  GitObjects,
  type GitTree,
  holdsObjects,
  holdsRefs,
  type PlaceReport,
  type ProtectedPlace,
  RefChecks,
  type RefFile,
  refuseUnnameable,
  reportsOf,
  sortGitEntry,
} from '../checks/index.ts'
import { isEnterable, isSettled, isTooDeep, isUs, statsAt, withOpened } from '../disk/index.ts'
import { isGitFolder } from '../git/index.ts'
import { foldName, holdsClosed, isClosedToCommands, isHiddenFromCommands } from '../names/index.ts'
import { GitAround, mayRunLater, RunLaterFiles, workTreesAround } from '../repository/index.ts'
import { placesAt, placesOnWay, reportLinks } from './places-on-way.ts'
import { isEndpoint } from './readable-endpoints.ts'
import {
  addAll,
  type EntryKind,
  type Folder,
  folderAt,
  folderKind,
  isNear,
  isRecent,
  joinedOptions,
  type LookOptions,
  MAX_RECENT,
  nothingFound,
} from './survey-folder.ts'
import { refuseProtected, type Unnameable, unnameableIn } from './unnameable.ts'

/** The current content of the roots; complete, however many files there are. */
export interface SurveyFindings {
  /** By path: what commands may not change. */
  readonly places: ReadonlyMap<string, ProtectedPlace>
  /** Files and folders that commands do not see. */
  readonly secrets: readonly string[]
  /** Sockets and pipes: a program that listens there is outside of every sandbox. */
  readonly endpoints: readonly string[]
  /** Folders of other users that can be entered but not listed: commands do not see them, whatever they contain. */
  readonly unlisted: readonly string[]
  /** The git folders, such as `.git`. */
  readonly gitFolders: readonly string[]
  /** What may be there, but should be known to the owner if a command made it. */
  readonly reports: readonly PlaceReport[]
  /** Files that git hooks, package managers or pipelines may run or obey later; commands may change them. */
  readonly later: readonly string[]
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

/** What is found in folders. */
interface Collected {
  readonly places: Map<string, ProtectedPlace>
  readonly secrets: string[]
  readonly endpoints: string[]
  readonly unlisted: string[]
  readonly gitFolders: string[]
  readonly reports: PlaceReport[]
  readonly later: string[]
  readonly refs: RefFile[]
  /** Exact paths; one that a config names counts only if the config is the owner's. */
  readonly exact: { readonly path: string; readonly config?: string }[]
  /** Folders to which git writes: no link may lead elsewhere. */
  readonly ways: string[]
  problem?: Error
}

/**
 * Finds what commands must not change or see in the roots, by walking all of them. Folders whose change time is the same
 * are not read again; a command can set the modification time of a folder, but not its change time.
 */
export class Survey {
  readonly #options: SurveyOptions
  readonly #hidden: ReadonlySet<string>
  readonly #runLater: RunLaterFiles
  readonly #roots: Folder[]
  readonly #git = new GitChecks()
  readonly #objects = new GitObjects()
  readonly #refs = new RefChecks()
  readonly #around = new GitAround()
  /** Where something is most likely to appear, and the git folders, as of the last complete check. */
  #likely: readonly Folder[] = []
  #gitFolders: readonly string[] = []
  #looking: Promise<SurveyFindings> | undefined
  #next: Promise<SurveyFindings> | undefined
  #nextOptions: LookOptions | undefined

  constructor(options: SurveyOptions, runLater = new RunLaterFiles()) {
    this.#options = options
    this.#runLater = runLater
    this.#hidden = new Set(options.hidden)
    this.#roots = options.roots.map((root) => folderAt(root, 'ordinary'))
  }

  /** Checks everything that has changed until now, as far as the options say. */
  look(options: LookOptions = {}): Promise<SurveyFindings> {
    // A request during a survey waits for the next one: the first may have passed the change already.
    if (this.#looking) {
      this.#nextOptions = joinedOptions(this.#nextOptions ?? options, options)
      this.#next ??= this.#looking
        .catch(() => undefined)
        .then(() => {
          const next = this.#nextOptions
          this.#next = undefined
          this.#nextOptions = undefined
          return this.look(next)
        })
      return this.#next
    }
    this.#looking = this.#look(options).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look({
    since = Number.POSITIVE_INFINITY,
    isCodeKnown,
    objects,
    isBeginning,
  }: LookOptions): Promise<SurveyFindings> {
    const found = this.#collect()
    this.#objects.begin(objects)
    const slice = new TimeSlice()
    const near: Folder[] = []
    const recent: Folder[] = []
    const open = [...this.#roots]
    for (let folder = open.pop(); folder; folder = open.pop()) {
      if (slice.isOver) await slice.pause()
      const isKnown = isCodeKnown && folder.kind === 'code' && folder.changedMs !== undefined
      this.#visit(folder, found, isKnown)
      if (folder.checked.length > 0) await this.#checkFiles(folder, found, { since, isOwners: !objects })
      if (folder.tree && holdsObjects(folder.tree)) await this.#checkObjects(folder, found, objects)
      addAll(open, folder.folders)
      if (isNear(folder)) near.push(folder)
      else if (isRecent(folder) && recent.length < MAX_RECENT) recent.push(folder)
    }
    await this.#checkRefs(found, { isBeginning, objects })
    this.#likely = [...near, ...recent]
    this.#gitFolders = found.gitFolders
    return this.#finish(found)
  }

  #collect(): Collected {
    const lists = {
      secrets: [],
      endpoints: [],
      unlisted: [],
      gitFolders: [],
      reports: [],
      later: [],
      ways: [],
      refs: [],
    }
    const found = { places: new Map(), ...lists, exact: this.#options.exact.map((path) => ({ path })) }
    for (const root of this.#options.roots) for (const folder of workTreesAround(root)) this.#nameByGit(folder, found)
    return found
  }

  /** Adds what git runs, reads and writes because of the owner's settings and hooks of a repository. */
  #nameByGit(workTree: string, found: Collected): void {
    this.#nameByConfig(join(workTree, '.git'), found)
    addAll(
      found.exact,
      this.#runLater.hookScriptsOf(workTree).map((path) => ({ path })),
    )
  }

  #nameByConfig(gitFolder: string, found: Collected): void {
    const { places, ways } = this.#around.placesOf(gitFolder)
    addAll(found.exact, places)
    addAll(found.ways, ways)
  }

  /**
   * Checks where something is most likely to appear, for a few milliseconds: the top folders, the git folders, those that
   * have changed lately, and new ones in them. What is in files of git is left to a complete check.
   */
  glance(): SurveyFindings {
    const found = this.#collect()
    addAll(found.gitFolders, this.#gitFolders)
    const slice = new TimeSlice()
    const open = [...this.#likely]
    for (const folder of open) {
      if (slice.isOver) break
      const known = new Set(folder.folders)
      this.#visit(folder, found)
      addAll(
        open,
        folder.folders.filter((child) => !known.has(child)),
      )
    }
    return this.#finish(found)
  }

  async #checkFiles(folder: Folder, found: Collected, options: Parameters<GitChecks['check']>[2]): Promise<void> {
    const { gitFolder } = folder.git!
    for (const path of folder.checked) {
      if (holdsRefs(path.slice(gitFolder.length + 1))) found.refs.push({ path, gitFolder })
      try {
        const { state, verdict } = (await this.#git.check(path, folder.git!, options)) ?? {}
        if (verdict?.is === 'refused') found.places.set(path, { path, isGit: true, state, refusal: verdict.reason })
        else if (verdict) addAll(found.reports, reportsOf(gitFolder, verdict))
      } catch (error) {
        found.problem ??= cannotLook(path, error)
      }
    }
  }

  async #checkObjects({ path, tree }: Folder, found: Collected, options: LookOptions['objects']): Promise<void> {
    try {
      const { places, reports } = await this.#objects.check(path, tree!, options)
      for (const place of places) found.places.set(place.path, place)
      addAll(found.reports, reports)
    } catch (error) {
      found.problem ??= cannotLook(path, error)
    }
  }

  async #checkRefs(found: Collected, { isBeginning, objects }: LookOptions): Promise<void> {
    const { refs, gitFolders } = found
    try {
      if (isBeginning) await this.#refs.begin(refs, gitFolders)
      else if (objects) addAll(found.reports, await this.#refs.check(refs, gitFolders, objects))
    } catch (error) {
      found.problem ??= cannotLook(gitFolders[0] ?? '.git', error)
    }
  }

  #visit(folder: Folder, found: Collected, isKnown = false): void {
    try {
      if (!isKnown) this.#refresh(folder)
    } catch (error) {
      // What is found elsewhere still counts.
      folder.changedMs = undefined
      found.problem ??= cannotLook(folder.path, error)
    }
    for (const place of folder.places) found.places.set(place.path, place)
    for (const unnameable of folder.unnameable) this.#checkUnnameable(unnameable, found, folder.git)
    addAll(found.secrets, folder.secrets)
    addAll(found.endpoints, folder.endpoints)
    addAll(found.reports, folder.reports)
    addAll(found.later, folder.later)
    if (folder.isWorkTree) this.#nameByGit(folder.path, found)
    if (folder.isGit) this.#nameByConfig(folder.path, found)
    if (folder.isUnlisted) found.unlisted.push(folder.path)
    if (folder.isGit) found.gitFolders.push(folder.path)
  }

  /** What must be closed and cannot be: no command starts while it exists, and none may leave it. */
  #checkUnnameable(unnameable: Unnameable, found: Collected, git?: GitTree): void {
    const bytes = unnameable.path.toString('latin1')
    const place = { path: unnameable.path.toString(), bytes, isGit: true }
    try {
      const links = refuseProtected(unnameable)
      const refused = git && refuseUnnameable(git, unnameable.path)
      if (refused) found.places.set(bytes, { ...place, ...refused })
      else addAll(found.reports, reportLinks(this.#options.roots, links))
    } catch (error) {
      found.places.set(bytes, { ...place, refusal: 'contains what must be closed, and has no valid name' })
      found.problem ??= cannotLook(place.path, error)
    }
  }

  #finish({ exact, ways, refs: _, ...found }: Collected): SurveyFindings {
    const { places } = found
    const add = (path: string, isAdded: (place: ProtectedPlace) => boolean, behind?: string) => {
      try {
        for (const found of placesOnWay(this.#options.roots, path)) {
          const place = behind === undefined ? found : { behind, ...found }
          if (isAdded(place) && (place.behind === undefined || !places.has(place.path))) places.set(place.path, place)
        }
      } catch (error) {
        found.problem ??= cannotLook(path, error)
      }
    }
    const isPlace = (config: string | undefined) => config !== undefined && places.has(config)
    for (const { path, config } of exact) add(path, () => true, isPlace(config) ? config : undefined)
    // Any name in the folder: the folder itself is on the way to it.
    for (const path of new Set(ways)) add(join(path, '.git'), ({ isOnWay }) => isOnWay === true)
    for (const paths of [found.secrets, found.endpoints, found.gitFolders, found.later]) paths.sort()
    return found
  }

  #refresh(folder: Folder): void {
    const stats = statsAt(folder.path)
    const isThere = stats?.isDirectory() === true
    if (isThere && stats.ctimeMs === folder.changedMs && stats.ino === folder.inode) return
    folder.changedMs = isThere && isSettled(stats) ? stats.ctimeMs : undefined
    folder.inode = stats?.ino
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
      folder.isUnlisted = isEnterable(folder.path)
      return []
    }
  }

  #sort(folder: Folder, entries: readonly Dirent[]): void {
    const known = new Map(folder.folders.map((child) => [child.path, child]))
    const names = new Set(entries.map(({ name }) => name))
    const parent = folder.path.slice(folder.path.lastIndexOf('/') + 1)
    // A complete repository is one also below the folders of another, where a `.git` file can lead to it.
    const isGit = isGitFolder(names) || (!folder.tree?.isStrict && foldName(parent) === '.git')
    const isNested = folder.kind === 'nested'
    const isStrict = parent === '.git' || isNested
    const git = isGit ? { gitFolder: folder.path, below: '', isStrict, isNested } : folder.tree
    const found = { ...nothingFound(), isGit, git, isWorkTree: names.has('.git') }
    for (const entry of entries) {
      const path = join(folder.path, entry.name)
      if (this.#hidden.has(path)) continue
      if (isSecret(entry, parent) && folder.kind !== 'code' && !(git?.isStrict && git.below !== ''))
        found.secrets.push(path)
      if (isEndpoint(entry)) found.endpoints.push(path)
      const inGit = git && sortGitEntry(git, entry)
      const kind = inGit?.kind ?? kindOf(entry, folder)
      if (kind === 'closed' || kind === 'git') found.places.push(...placesAt(path, { isGit: kind === 'git' }))
      if (kind === 'checked') found.checked.push(path)
      if (kind === 'ordinary' && folder.kind !== 'code' && entry.isFile() && mayRunLater(entry.name, folder.path))
        found.later.push(path)
      if (inGit?.refusal !== undefined) found.places.push(...placesAt(path, { isGit: true, refusal: inGit.refusal }))
      found.reports.push(...(inGit?.reports ?? []))
      if (!git?.isStrict && inGit?.refusal === undefined && entry.isSymbolicLink())
        found.reports.push(...reportLinks(this.#options.roots, [path]))
      const childKind = folderKind(entry, kind, folder.kind)
      if (childKind === undefined) continue
      if (isTooDeep(path)) {
        found.places.push({ path, isGit: true, refusal: 'is too deep to be checked' })
        continue
      }
      const child = known.get(path)
      const isSame = child?.kind === childKind && child.tree?.below === inGit?.tree?.below
      found.folders.push(isSame ? child : folderAt(path, childKind, { depth: folder.depth + 1, tree: inGit?.tree }))
    }
    found.unnameable = unnameableIn(folder.path, names)
    Object.assign(folder, found)
  }
}

function isSecret(entry: Dirent, parent: string): boolean {
  const isFolder = entry.isDirectory()
  return (isFolder || entry.isFile()) && isHiddenFromCommands(entry.name, isFolder, parent)
}

function kindOf(entry: Dirent, { path, kind }: Folder): EntryKind {
  if (kind !== 'code' && isClosedToCommands(entry.name, path)) return 'closed'
  if (entry.isDirectory()) return 'folder'
  if (foldName(entry.name) === '.git') return 'git'
  if (!entry.isSymbolicLink() || kind === 'code') return 'ordinary'
  // Nothing behind a link is searched, so no link may be where other programs expect something.
  if (kind === 'nested') return 'git'
  return holdsClosed(entry.name) ? 'closed' : 'ordinary'
}

/** Readable and searchable for its owner. */
const SEARCHABLE = 0o500

function cannotLook(path: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error
  return new ToolError('SANDBOX_UNAVAILABLE', `Protected places in ${path} cannot be found: ${messageOf(error)}.`, {
    hint: 'No command runs until they can. End background commands that change the folder, or make it readable for the user of the hub.',
    cause: error,
  })
}
