import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { statsIfThere } from '../../system/index.ts'

/** What git runs or obeys in a git folder, in addition to the user's settings. */
const CLOSED = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'])
/** Git folders inside a git folder: of submodules and of further worktrees. */
const NESTED = new Set(['modules', 'worktrees'])
const BESIDE_HEAD = ['objects', 'refs', ...CLOSED]
const MAX_CONFIG_BYTES = 64 * 1024

/** What is known about the roots when a git file is checked. */
interface GitContext {
  /** Whether a folder is a git folder whose own config and hooks are checked. */
  readonly isKnown: (gitFolder: string) => boolean
  readonly isInRoots: (path: string) => boolean
}

const NOTHING_KNOWN: GitContext = { isKnown: () => false, isInRoots: () => false }

/** Whether git treats a folder with these names as a repository: `.git`, a bare one, or that of a worktree. */
export function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && ((names.has('objects') && names.has('refs')) || names.has('commondir'))
}

/** Whether commands may not change the entry with this name in a git folder. */
export function isClosedInGit(name: string): boolean {
  return CLOSED.has(name.toLowerCase())
}

/**
 * Whether a path leads to what git runs or obeys in a repository that is not called `.git`. File tools never create
 * a `HEAD`, and git treats no folder without one as a repository: so none can be assembled file by file, in any order.
 */
export function isClosedInBareGit(root: string, names: readonly string[]): boolean {
  return names.some((name, index) => {
    const beside = (other: string) => statsIfThere(join(root, ...names.slice(0, index), other)) !== undefined
    if (isClosedInGit(name)) return beside('HEAD')
    if (index !== names.length - 1 || name.toUpperCase() !== 'HEAD') return false
    // On some disks, `head` is the same name.
    return name === 'HEAD' || BESIDE_HEAD.some(beside)
  })
}

/** Whether a folder in a git folder can contain further git folders. */
export function isNestedGit(name: string): boolean {
  return NESTED.has(name.toLowerCase())
}

/**
 * Whether what a command has created at a place that git trusts runs nothing: `git init` and `git clone` create a config
 * and sample hooks, `git worktree` and `git submodule` create files that point into an existing repository, and
 * `git rebase` writes down its remaining steps. What cannot be read is not harmless.
 */
export function isHarmlessGitFile(path: string, context: GitContext = NOTHING_KNOWN): boolean {
  try {
    const stats = statsIfThere(path)
    if (!stats) return true
    const name = basename(path).toLowerCase()
    if (name === 'hooks') return stats.isDirectory() && readdirSync(path).every((hook) => hook.endsWith('.sample'))
    const runsNothing = judgeOfState(path)
    const maxBytes = runsNothing ? MAX_STATE_BYTES : MAX_CONFIG_BYTES
    if (!stats.isFile() || stats.nlink > 1 || stats.size > maxBytes) return false
    const text = readFileSync(path, 'utf8')
    if (runsNothing) return runsNothing(text)
    if (name === 'config') return isHarmlessConfig(text, dirname(path), context)
    return name !== 'config.worktree' && isPointer(path, text, context)
  } catch {
    // A folder that was swapped for a link, a file that cannot be read: only what is known to be harmless is.
    return false
  }
}

const HARMLESS: Readonly<Record<string, ReadonlySet<string>>> = {
  core: new Set([
    ...['repositoryformatversion', 'filemode', 'bare', 'logallrefupdates', 'ignorecase', 'precomposeunicode'],
    ...['symlinks', 'autocrlf', 'eol', 'safecrlf', 'sparsecheckout', 'sparsecheckoutcone', 'worktree', 'abbrev'],
  ]),
  extensions: new Set(['objectformat', 'partialclone', 'refstorage', 'compatobjectformat']),
  index: new Set(['version', 'sparse', 'threads']),
  init: new Set(['defaultbranch']),
  remote: new Set(['url', 'pushurl', 'fetch', 'push', 'mirror', 'tagopt', 'prune', 'promisor', 'partialclonefilter']),
  branch: new Set(['remote', 'merge', 'rebase', 'pushremote']),
  submodule: new Set(['active', 'url', 'branch', 'path']),
  user: new Set(['name', 'email']),
  pull: new Set(['rebase', 'ff']),
  push: new Set(['default', 'autosetupremote']),
  fetch: new Set(['prune']),
  gc: new Set(['auto']),
}
/** URLs for which git starts nothing but itself and ssh. */
const PLAIN_URL = /^(https?|git|ssh|file):\/\/[^-]|^[\w.][\w.-]*@[\w.][\w.-]*:|^\.{0,2}\/|^[\w.][\w./-]*$/

/** Every setting is one that git itself writes and that names no program. */
function isHarmlessConfig(text: string, gitFolder: string, { isInRoots }: GitContext): boolean {
  return [...readGitSettings(text)].every((setting) => {
    if (setting === 'unreadable') return false
    const { section, key, value } = setting
    if (!Object.hasOwn(HARMLESS, section) || !HARMLESS[section]!.has(key)) return false
    // `git checkout` writes there, possibly for a user outside the sandbox.
    if (section === 'core' && key === 'worktree') return isPlainWay(value) && isInRoots(resolve(gitFolder, value))
    return !key.endsWith('url') || PLAIN_URL.test(value)
  })
}

/** `.git`, `commondir` and `gitdir` contain one line that names a folder: a known one, or one inside a known one. */
function isPointer(path: string, text: string, { isKnown }: GitContext): boolean {
  const line = text.trimEnd().replace(/^gitdir: /, '')
  if (line === '' || !isPlainWay(line)) return false
  const target = resolve(dirname(path), line)
  // The git folder of a worktree names the worktree's `.git` file, which is checked separately.
  if (basename(path) === 'gitdir') return basename(target) === '.git'
  const candidates = [target, ...above(target)]
  return candidates.some((folder) => isKnown(folder))
}

/** Whether a path means the same to git and on disk: git interprets quotes and escapes, the disk resolves `link/..`. */
function isPlainWay(path: string): boolean {
  return !/[\n\0"\\#;]/.test(path) && !/(^|\/)(?!\.{1,2}\/)[^/]+\/+(\.\/+)*\.\.(\/|$)/.test(path)
}

/** The git folders around a folder inside `modules` or `worktrees`. */
function above(folder: string): string[] {
  const found: string[] = []
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if (NESTED.has(basename(at))) found.push(dirname(at))
  }
  return found
}

/** Places in the roots that git runs or reads because of the owner's own config of a repository: hooks elsewhere, further files. */
export function placesNamedByConfig(gitFolder: string, workTree: string): string[] {
  const config = join(gitFolder, 'config')
  const stats = statsIfThere(config)
  if (!stats?.isFile() || stats.size > MAX_CONFIG_BYTES) return []
  return [...readGitSettings(readFileSync(config, 'utf8'))].flatMap((setting) => {
    if (setting === 'unreadable' || setting.value === '' || setting.value.startsWith('~')) return []
    const { section, key, value } = setting
    if (key === 'path' && section.startsWith('include')) return [resolve(gitFolder, value)]
    if (section === 'core' && (key === 'hookspath' || key === 'attributesfile')) return [resolve(workTree, value)]
    return RUNS.test(`${section}.${key}`) ? wordsThatAreFiles(value, workTree) : []
  })
}

/** Settings whose value is a command line. */
const RUNS =
  /^(core\.(fsmonitor|editor|pager|sshcommand|askpass|gitproxy)|sequence\.editor|credential\.helper|gpg\.program|(filter|diff|merge|difftool|mergetool|alias|pager|man|browser)\..+)$/

function wordsThatAreFiles(line: string, workTree: string): string[] {
  return line
    .replace(/^!/, '')
    .split(/[\s;|&"'$()]+/)
    .filter((word) => word !== '' && !word.startsWith('-'))
    .filter((word) => {
      const stats = statsIfThere(resolve(workTree, word))
      // A program that is named by its path may be created later.
      return stats ? stats.isFile() : word.includes('/')
    })
    .map((word) => resolve(workTree, word))
}

const SECTION = /^\[\s*([A-Za-z0-9-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/
const SETTING = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/

/** One line of a config file. */
interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** Parses the settings of a config file, in a form that git interprets alike: one per line, without continuation. */
export function* readGitSettings(text: string): Generator<Setting | 'unreadable'> {
  let section: string | undefined
  for (const raw of text.split('\n')) {
    let line = raw.trim()
    const header = SECTION.exec(line)
    if (header) {
      section = header[1]!.toLowerCase()
      line = line.slice(header[0].length).trim()
    }
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const [, key, value = ''] = SETTING.exec(line) ?? []
    if (key === undefined || section === undefined || line.endsWith('\\')) yield 'unreadable'
    else yield { section, key: key.toLowerCase(), value: value.replace(/^"(.*)"$/, '$1') }
  }
}

/** Returns whether git runs nothing, and writes nothing elsewhere, because of this text. */
type Judge = (text: string) => boolean

/** Enough for the remaining steps of a rebase of some ten thousand commits. */
const MAX_STATE_BYTES = 1024 ** 2

/** Commands of a rebase that start no program; `exec` is not among them. */
const COMMANDS = new Set([
  ...['pick', 'p', 'reword', 'r', 'edit', 'e', 'squash', 's', 'fixup', 'f', 'drop', 'd', 'noop', 'break', 'b'],
  ...['label', 'l', 'reset', 't', 'merge', 'm', 'update-ref', 'u', 'revert'],
])
/** Git runs `git-merge-NAME` for any other. */
const STRATEGIES = new Set(['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree'])
const OPTIONS = new Set([
  ...['no-commit', 'allow-empty', 'allow-empty-message', 'drop-redundant-commits', 'keep-redundant-commits', 'edit'],
  ...['signoff', 'record-origin', 'allow-ff', 'mainline', 'strategy', 'gpg-sign', 'strategy-option'],
  ...['allow-rerere-auto', 'default-msg-cleanup', 'default-msg-cleanup-mode'],
])
const APPLY_OPTIONS =
  /^(\s+'(-C\d+|-p\d+|--whitespace=[\w-]+|--ignore-whitespace|--ignore-space-change|--reject|--(ex|in)clude=[^'\\]+)')*\s*$/

const isHarmlessTodo: Judge = (text) => text.split('\n').every(isHarmlessLine)
const isStrategy: Judge = (text) => STRATEGIES.has(text.trim())
const areOptions: Judge = (text) =>
  [...readGitSettings(text)].every((setting) => {
    if (setting === 'unreadable' || setting.section !== 'options' || !OPTIONS.has(setting.key)) return false
    return setting.key !== 'strategy' || isStrategy(setting.value)
  })

/**
 * Where git stores, below a git folder, the remaining steps of an interrupted operation. `git rebase --continue` runs
 * what is stored there, no matter who wrote it.
 */
const STATE: Readonly<Record<string, Readonly<Record<string, Judge>>>> = {
  'rebase-merge': { 'git-rebase-todo': isHarmlessTodo, strategy: isStrategy },
  'rebase-apply': { 'apply-opt': (text) => APPLY_OPTIONS.test(` ${text}`) },
  sequencer: { opts: areOptions, todo: isHarmlessTodo },
}

/** Whether a folder with this name stores the state of an interrupted operation. */
export function isStateFolder(name: string): boolean {
  return Object.hasOwn(STATE, name.toLowerCase())
}

/** The state files that make git run something, relative to the git folder; `folders` are the names in it. */
export function stateFilesIn(folders: Iterable<string>): string[] {
  return [...folders].filter(isStateFolder).flatMap((folder) => {
    return Object.keys(STATE[folder.toLowerCase()]!).map((file) => `${folder}/${file}`)
  })
}

/** The check for the text of such a state file; undefined for any other file. */
export function judgeOfState(path: string): Judge | undefined {
  const folder = basename(dirname(path)).toLowerCase()
  const name = basename(path).toLowerCase()
  return Object.hasOwn(STATE, folder) && Object.hasOwn(STATE[folder]!, name) ? STATE[folder]![name] : undefined
}

function isHarmlessLine(line: string): boolean {
  const [word = ''] = line.trimStart().split(/[\s\0]/)
  // Every command begins with a letter: anything else is a comment, or an error.
  return word === '' || !/^[a-z]/i.test(word) || COMMANDS.has(word)
}
