import type { Dirent } from 'node:fs'
import type { GitTree, ObjectCheckOptions, PlaceReport, ProtectedPlace } from '../checks/index.ts'
import type { Unnameable } from './unnameable.ts'

/** What was found in one folder. */
export interface FolderContent {
  folders: Folder[]
  places: ProtectedPlace[]
  secrets: string[]
  /** Sockets and pipes. */
  endpoints: string[]
  /** Files that may run later, by their name. */
  later: string[]
  /** Files of git that commands may write: checked each time, since their content matters. */
  checked: string[]
  reports: PlaceReport[]
  /** Read each time: changes in them do not change this folder's time. */
  unnameable: Unnameable[]
}

/** A folder that a survey has found. */
export interface Folder extends FolderContent {
  readonly path: string
  /** Its change time when it was read; absent while it must be read again. */
  changedMs?: number
  /** Another folder at the same path can have the same time. */
  inode?: number
  isUnlisted: boolean
  isGit: boolean
  /** It is the work tree of a repository. */
  isWorkTree: boolean
  readonly kind: FolderKind
  /** How many folders are between it and its root. */
  readonly depth: number
  /** Set if it belongs to the git folder around it. */
  readonly tree?: GitTree
  /** Set if it is a git folder, or belongs to one. */
  git?: GitTree
}

/**
 * In `nested`, below `modules` or `worktrees` of git, every folder can be a git folder. `code` is code of the project itself
 * that package managers rewrite: only git folders count there, since git enters those that its index names.
 */
export type FolderKind = 'ordinary' | 'nested' | 'code'

/** What a survey does with an entry of a folder. */
export type EntryKind = 'closed' | 'git' | 'checked' | 'nested' | 'folder' | 'ordinary'

const CODE_FOLDER = 'node_modules'

/** The kind of a folder that an entry is; undefined for what is not searched. */
export function folderKind(entry: Dirent, kind: EntryKind, parent: FolderKind): FolderKind | undefined {
  if (kind === 'nested') return 'nested'
  if (kind !== 'folder') return undefined
  return entry.name === CODE_FOLDER && parent === 'ordinary' ? 'code' : parent
}

/** For a folder that was not read yet. */
export function nothingFound(): FolderContent {
  return {
    folders: [],
    places: [],
    secrets: [],
    endpoints: [],
    later: [],
    checked: [],
    reports: [],
    unnameable: [],
  }
}

/** Creates a folder that was not read yet. */
export function folderAt(
  path: string,
  kind: FolderKind,
  { depth = 0, tree }: { depth?: number; tree?: GitTree } = {},
): Folder {
  return { path, ...nothingFound(), isUnlisted: false, isGit: false, isWorkTree: false, kind, depth, tree, git: tree }
}

/** Folders that changed within this time may well change again. */
const RECENT_MS = 60_000
/** How many of those are checked often. */
export const MAX_RECENT = 500

/** Whether programs look for their settings there. */
export function isNear({ depth, isGit, kind }: Folder): boolean {
  return kind !== 'code' && (depth < 2 || isGit)
}

/** Whether it changed a short time ago. */
export function isRecent({ changedMs }: Folder): boolean {
  return changedMs === undefined || Date.now() - changedMs < RECENT_MS
}

/** Adds all items to a list. A folder can have more of them than a function takes arguments. */
export function addAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}

/** What one check of a survey leaves out. */
export interface LookOptions {
  /** Files of git that changed after this time are judged again, whether they seem to be the same or not. Default: none. */
  readonly since?: number
  /** Whether folders in `node_modules` that were read once are taken as they were: there can be very many. */
  readonly isCodeKnown?: boolean
  /** Which objects of git are checked. Default: none. */
  readonly objects?: ObjectCheckOptions
  /** Whether no command runs yet: what refs lead to now is the owner's. Default: false. */
  readonly isBeginning?: boolean
}

/** The options for a check that does for both. */
export function joinedOptions(a: LookOptions, b: LookOptions): LookOptions {
  const since = Math.min(a.since ?? Number.POSITIVE_INFINITY, b.since ?? Number.POSITIVE_INFINITY)
  const objects = a.objects?.isLast ? a.objects : (b.objects ?? a.objects)
  const isBeginning = a.isBeginning === true || b.isBeginning === true
  return { since, isCodeKnown: a.isCodeKnown === true && b.isCodeKnown === true, objects, isBeginning }
}
