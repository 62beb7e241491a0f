import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { statsIfThere } from '../../system/index.ts'
import { judgeOfState, MAX_STATE_BYTES } from './git-state.ts'

/** What git runs or obeys in a folder of its own, besides the settings of the user. */
const CLOSED = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'])
/** Folders of git inside a folder of git: of submodules and of further worktrees. */
const NESTED = new Set(['modules', 'worktrees'])
const BESIDE_HEAD = ['objects', 'refs', ...CLOSED]
const MAX_CONFIG_BYTES = 64 * 1024

/** What is known about the roots when a git file is checked. */
interface GitContext {
  /** Whether a folder is one of git whose own config and hooks are looked at. */
  readonly isKnown: (gitFolder: string) => boolean
  readonly isInRoots: (path: string) => boolean
}

const NOTHING_KNOWN: GitContext = { isKnown: () => false, isInRoots: () => false }

/** Whether git takes a folder with these names for a repository: `.git`, a bare one, or the part of a worktree. */
export function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && ((names.has('objects') && names.has('refs')) || names.has('commondir'))
}

/** Whether commands may not change what has this name in a folder of git. */
export function isClosedInGit(name: string): boolean {
  return CLOSED.has(name.toLowerCase())
}

/**
 * Whether a path leads to what git runs or obeys in a repository that is not called `.git`. A file tool makes no `HEAD`,
 * and without one git takes no folder for a repository: so none can be put together file by file, in whatever order.
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

/** Whether a folder in a folder of git can hold others of its kind. */
export function isNestedGit(name: string): boolean {
  return NESTED.has(name.toLowerCase())
}

/**
 * Whether what a command has made at a place that git trusts runs nothing: `git init` and `git clone` make a config and
 * sample hooks, `git worktree` and `git submodule` make files that point into a repository that is there already, and
 * `git rebase` notes what is left to do.
 * What cannot be read is not harmless.
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
/** The ways on which git starts nothing but itself and ssh. */
const PLAIN_URL = /^(https?|git|ssh|file):\/\/[^-]|^[\w.][\w.-]*@[\w.][\w.-]*:|^\.{0,2}\/|^[\w.][\w./-]*$/

/** Every setting is one that git itself writes and that names no program. */
function isHarmlessConfig(text: string, gitFolder: string, { isInRoots }: GitContext): boolean {
  return [...readGitSettings(text)].every((setting) => {
    if (setting === 'unreadable') return false
    const { section, key, value } = setting
    if (!Object.hasOwn(HARMLESS, section) || !HARMLESS[section]!.has(key)) return false
    // `git checkout` writes there, on behalf of somebody who is not in the sandbox.
    if (section === 'core' && key === 'worktree') return isPlainWay(value) && isInRoots(resolve(gitFolder, value))
    return !key.endsWith('url') || PLAIN_URL.test(value)
  })
}

/** `.git`, `commondir` and `gitdir` are a line that names a folder: one that was there before, or is part of one that was. */
function isPointer(path: string, text: string, { isKnown }: GitContext): boolean {
  const line = text.trimEnd().replace(/^gitdir: /, '')
  if (line === '' || !isPlainWay(line)) return false
  const target = resolve(dirname(path), line)
  // The part of a worktree names the `.git` file of its folder, which is looked at by itself.
  if (basename(path) === 'gitdir') return basename(target) === '.git'
  const candidates = [target, ...above(target)]
  return candidates.some((folder) => isKnown(folder))
}

/** Whether a path leads where its text says: quotes and escapes have another end in git, `link/..` on the disk. */
function isPlainWay(path: string): boolean {
  return !/[\n\0"\\#;]/.test(path) && !/(^|\/)(?!\.{1,2}\/)[^/]+\/+(\.\/+)*\.\.(\/|$)/.test(path)
}

/** Folders of git around a folder inside of `modules` or `worktrees`. */
function above(folder: string): string[] {
  const found: string[] = []
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if (NESTED.has(basename(at))) found.push(dirname(at))
  }
  return found
}

/** Places in the roots that the owner's own settings of a repository make git run or read: hooks elsewhere, further files. */
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
      // A program that is named by its path may be made later.
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

/** The settings of a config file in a form that git and we read alike: one per line, without continuation. */
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
