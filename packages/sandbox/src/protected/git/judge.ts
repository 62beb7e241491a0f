import { createHash } from 'node:crypto'
import { basename, dirname, resolve } from 'node:path'
import { isHarmlessConfig, isPlainWay, MAX_CONFIG_BYTES } from './config-file.ts'
import { foldGitPath } from './entry-path.ts'
import { type HashBytes, type IndexOptions, MAX_INDEX_BYTES, readGitIndexInSteps, takeSteps } from './index-file.ts'
import { aboutSilent, type GitRule, gitRuleOf, SET_ASIDE } from './layout.ts'
import { judgeOfState, MAX_STATE_BYTES } from './state-files.ts'

/** Something in a git folder that a command has created or changed. */
export interface GitEntry {
  /** Its path in the git folder, with `/` between the names. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  /** How many names it has. Default: 1. */
  readonly names?: number
  /** Returns its content, or `undefined` if it has more bytes or cannot be read. */
  readonly read?: (maxBytes: number) => Buffer | undefined
  /** The names in it, if it is a folder that git runs files of. */
  readonly list?: () => readonly string[]
}

/** What is known about a git folder and what surrounds it. */
export interface GitContext {
  readonly gitFolder: string
  /** Whether it is called `.git`, or is inside one: then every name in it is git's. Otherwise, others may have put theirs there. */
  readonly isStrict: boolean
  readonly hashBytes: HashBytes
  /** Whether a folder is a git folder whose own files are judged. */
  readonly isKnown: (gitFolder: string) => boolean
  /** Whether git may write files in a folder. */
  readonly mayBeWorkTree: (path: string) => boolean
  /** Whether a git folder in the submodule with this path in the work tree would be found and judged. */
  readonly isSurveyed: (submodule: string) => boolean
}

/** Something that git obeys and that an owner should know about, but that honest work also needs. */
export interface GitReport {
  readonly about:
    | 'replace'
    | 'shadow'
    | 'hidden'
    | 'unchecked'
    | 'assume-unchanged'
    | 'skip-worktree'
    | 'split'
    | 'submodule'
    | 'run-later'
    | 'cache'
    | 'autostash'
    | 'exclude'
    | 'shallow'
  /** The ref, or the path in the work tree. */
  readonly name: string
  /** The hash of its content, where another content is something new. */
  readonly hash?: string
}

/** What to do about an entry. */
export type GitVerdict =
  | { readonly is: 'fine' }
  | { readonly is: 'reported'; readonly reports: readonly GitReport[] }
  /** It must not stay. The reason completes a sentence: the file … */
  | { readonly is: 'refused'; readonly reason: string }

const FINE: GitVerdict = { is: 'fine' }
const refused = (reason: string): GitVerdict => ({ is: 'refused', reason })
const reported = (reports: readonly GitReport[]): GitVerdict =>
  reports.length > 0 ? { is: 'reported', reports } : FINE

/** Rules whose files are judged by their content, which git changes during its normal work. */
const BY_CONTENT: ReadonlySet<GitRule> = new Set([
  ...(['index', 'packed-refs', 'reftable', 'state', 'ref', 'replace', 'shadow', 'silent'] as const),
])

/** Whether the verdict on a file depends on what it contains, though git writes it during normal work. */
export function isJudgedByContent(path: string): boolean {
  return BY_CONTENT.has(gitRuleOf(path))
}

/**
 * Judges what commands have changed in a git folder, without looking at the disk. What git writes itself during normal work
 * is fine; what would make the user's git run a program, write elsewhere or contact a server is refused.
 */
export function judgeGitChanges(entries: readonly GitEntry[], context: GitContext): GitVerdict[] {
  return entries.map((entry) => judgeEntry(entry, context))
}

function judgeEntry(entry: GitEntry, context: GitContext): GitVerdict {
  const rule = gitRuleOf(entry.path)
  if (rule === 'aside') return FINE
  if (entry.kind === 'link')
    return isForeign(rule, context) ? FINE : refused('is a link, through which git would write')
  if (rule === 'closed') return judgeClosed(entry, context)
  if (BY_CONTENT.has(rule) && entry.kind === 'file') return judgeContent(entry, rule, context)
  if (!context.isStrict) return FINE
  if (rule === 'unknown') return refused('is not a file that git writes')
  return isOfKind(entry, rule)
    ? FINE
    : refused(`is not a ${rule === 'folder' || rule === 'nested' ? 'folder' : 'file'}`)
}

function isForeign(rule: GitRule, { isStrict }: GitContext): boolean {
  return rule === 'unknown' && !isStrict
}

function isOfKind({ kind }: GitEntry, rule: GitRule): boolean {
  if (rule === 'folder' || rule === 'nested') return kind === 'folder'
  if (rule === 'any' || rule === 'ref' || rule === 'replace' || rule === 'shadow' || rule === 'reftable')
    return kind === 'file' || kind === 'folder'
  return kind === 'file'
}

/** What git runs or obeys is harmless only if it is known to run nothing: what cannot be read is not. */
function judgeClosed(entry: GitEntry, context: GitContext): GitVerdict {
  const name = foldGitPath(entry.path)
  if (name === 'hooks') {
    const isHarmless = entry.kind === 'folder' && entry.list?.().every((hook) => hook.endsWith('.sample'))
    return isHarmless ? FINE : refused('has hooks, which git runs')
  }
  if (entry.kind !== 'file' || (entry.names ?? 1) > 1) return refused('is not a file of its own')
  const text = entry.read?.(MAX_CONFIG_BYTES)?.toString('utf8')
  if (text === undefined) return refused('cannot be read, or is too large')
  return isHarmlessText(name, text, context) ? FINE : refused('names something that git runs, writes or contacts')
}

function isHarmlessText(name: string, text: string, context: GitContext): boolean {
  const { gitFolder, mayBeWorkTree, isKnown } = context
  if (name.startsWith('config'))
    return isHarmlessConfig(text, gitFolder, mayBeWorkTree, name === 'config' ? undefined : SECTIONS_OF_WORKTREE)
  // Only a worktree has one, and it leads to the repository around it: any other would replace remotes and refs.
  if (name === 'commondir') return isWorktree(gitFolder) && pointedTo(gitFolder, text) === dirname(dirname(gitFolder))
  if (name === 'gitdir') {
    // The git folder of a worktree names the worktree's `.git` file, which is checked separately; `git worktree repair`
    // writes it, and `git worktree remove` deletes its folder.
    const file = pointedTo(gitFolder, text)
    return file !== undefined && basename(file) === '.git' && mayBeWorkTree(dirname(file))
  }
  if (name !== 'objects/info/alternates') return false
  return text.split('\n').every((line) => {
    const target = line === '' || line.startsWith('#') ? undefined : pointedTo(`${gitFolder}/objects`, line)
    return line === '' || line.startsWith('#') || (target !== undefined && isKnown(dirname(target)))
  })
}

/** What git writes to the config of a worktree: a remote there would come before that of the owner. */
const SECTIONS_OF_WORKTREE = ['core', 'index', 'extensions']

function isWorktree(gitFolder: string): boolean {
  return foldGitPath(basename(dirname(gitFolder))) === 'worktrees'
}

/**
 * Whether the text of a `.git` file in a folder names a known git folder, or one inside a known one. A folder called `.git`
 * belongs to the work tree around it: its index would be written to this folder as well.
 */
export function isGitPointer(folder: string, text: string, isKnown: GitContext['isKnown']): boolean {
  const target = pointedTo(folder, text)
  if (target === undefined || foldGitPath(basename(target)) === '.git') return false
  return [target, ...gitFoldersAround(target)].some((candidate) => isKnown(candidate))
}

/** The path that one line names, if that means the same to git and on disk. */
export function pointedTo(folder: string, text: string): string | undefined {
  // Git keeps blanks at the end.
  const line = text.replace(/\n+$/, '').replace(/^gitdir: /, '')
  return line === '' || !isPlainWay(line) ? undefined : resolve(folder, line)
}

/** The git folders around a folder inside `modules` or `worktrees`. */
function gitFoldersAround(folder: string): string[] {
  const found: string[] = []
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if (gitRuleOf(basename(at)) === 'nested') found.push(dirname(at))
  }
  return found
}

function judgeContent(entry: GitEntry, rule: GitRule, context: GitContext): GitVerdict {
  const bytes = entry.read?.(rule === 'state' || rule === 'silent' ? MAX_STATE_BYTES : MAX_INDEX_BYTES)
  if (!bytes) return refused('cannot be read, or is too large')
  if (rule === 'index') return takeSteps(judgeIndexInSteps(bytes, context))
  if (rule === 'state')
    return judgeOfState(entry.path)!(bytes.toString('utf8')) ? FINE : refused('has content that git would not write')
  if (rule === 'silent') return judgeSilent(entry.path, bytes)
  if (rule === 'ref' || rule === 'replace' || rule === 'shadow') return judgeRef(entry.path, rule, bytes)
  return takeSteps(judgeRefTableInSteps(bytes, rule))
}

/** Git follows a ref to the file of another one, and writes there: `ref: refs/heads/../../../../x` leads out of its folder. */
function judgeRef(path: string, rule: GitRule, bytes: Buffer): GitVerdict {
  // The list of what was fetched is a ref as well, and can be long; it does not begin so.
  const text = bytes.toString('latin1', 0, MAX_REF_BYTES)
  const isLong = bytes.length > MAX_REF_BYTES
  if (text.startsWith('ref:') && (isLong || !isRefName(text.slice('ref:'.length).trim())))
    return refused('leads git to a file that is not a ref')
  if (rule === 'replace') return reported([{ about: 'replace', name: path.slice('refs/replace/'.length) }])
  return rule === 'shadow' ? reported([{ about: 'shadow', name: path }]) : FINE
}

function isRefName(name: string): boolean {
  return /^refs\/[^\0-\x20\x7f\\]+$/.test(name) && !/\/\.{0,2}(\/|$)/.test(name) && !SET_ASIDE.test(name)
}

/** What git obeys without showing it: another content is something new. */
function judgeSilent(path: string, bytes: Buffer): GitVerdict {
  const text = bytes.toString('latin1')
  const about = aboutSilent(path)
  const ref = about === 'autostash' ? judgeRef(path, 'ref', bytes) : FINE
  if (ref.is === 'refused') return ref
  // Git passes it on as an argument.
  if (about === 'autostash' && path.includes('/') && !/^[0-9a-f]{40,64}\n?$/.test(text))
    return refused('has content that git would not write')
  const isEmpty = text.split('\n').every((line) => line.trim() === '' || line.startsWith('#'))
  return isEmpty ? FINE : reported([{ about, name: path, hash: createHash('sha256').update(bytes).digest('hex') }])
}

/** No path on disk is longer. */
const MAX_REF_BYTES = 4_096
/** Commits that are replaced, in a file with many refs: git takes no other names for them. */
const REPLACED = / refs\/replace\/([0-9a-f]{40}(?:[0-9a-f]{24})?)\n/gi
/** In a table of refs, a name shares its beginning with the one before it; the hash of a replaced commit is never shared. */
const REPLACED_IN_TABLE = /\/([0-9a-f]{38,64})/g
/** How much is read in one step, and how much of it again in the next. */
const STEP_BYTES = 1024 ** 2
const OVERLAP_BYTES = 256
/** Git itself replaces a few commits; a command that replaces more is reported with these. */
const MAX_REPLACED = 1_000

/** Judges a file with many refs, as `judgeGitChanges` does. */
export function* judgeRefTableInSteps(bytes: Buffer, rule: GitRule): Generator<undefined, GitVerdict> {
  const names = new Set<string>()
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    const text = bytes.toString('latin1', from, from + STEP_BYTES + OVERLAP_BYTES)
    for (const { 1: name, index } of text.matchAll(rule === 'reftable' ? REPLACED_IN_TABLE : REPLACED)) {
      // The next step reads it whole.
      if (index >= STEP_BYTES) break
      if (names.add(name!).size === MAX_REPLACED) return reported(namesAbout('replace', names))
    }
    yield
  }
  return reported(namesAbout('replace', names))
}

function namesAbout(about: GitReport['about'], names: Iterable<string>): GitReport[] {
  return Array.from(names, (name) => ({ about, name }))
}

/** Judges an index, which can be large, as `judgeGitChanges` does. */
export function* judgeIndexInSteps(
  bytes: Buffer,
  { hashBytes, isSurveyed }: Pick<GitContext, 'hashBytes' | 'isSurveyed'>,
  options: IndexOptions = {},
): Generator<undefined, GitVerdict> {
  const index = yield* readGitIndexInSteps(bytes, hashBytes, options)
  if ('problem' in index)
    return refused(`is not an index that git would write (${index.problem}; git reset builds a new one)`)
  const unseen = index.submodules.find((path) => !isSurveyed(path))
  if (unseen !== undefined)
    return refused(
      `has the submodule ${JSON.stringify(unseen)}, in which nothing is checked (git reset builds a new one)`,
    )
  return reported([
    ...namesAbout('assume-unchanged', index.assumedUnchanged),
    ...namesAbout('skip-worktree', index.skipped),
    ...namesAbout('split', index.isSplit ? ['index'] : []),
    ...namesAbout('cache', index.caches),
    ...namesAbout('submodule', index.submodules),
    ...index.runLater.map(({ path, hash }) => ({ about: 'run-later' as const, name: path, hash })),
  ])
}
