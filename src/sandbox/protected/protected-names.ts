import { type Dirent, readdirSync } from 'node:fs'
import { ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { isGitFolder } from './git-folder.ts'

/**
 * The one list of places that are protected by their name, at any depth and whether they exist or not. File tools refuse
 * to write them and to read secrets; commands see them read-only, do not see secrets, and lose what they create there.
 */

/** The data folder of a hub contains its keys, tokens and sign-ins. */
const SECRET_FOLDERS = new Set(['.ssh', '.gnupg', '.aws', '.tool-hub'])
const SECRET_FILE =
  /^\.env|\.(pem|key|p12|pfx|jks|keystore|kdbx)$|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|^\.(netrc|pgpass|git-credentials|pypirc|htpasswd)$/
/** Samples contain no secrets. */
const SAMPLE = /\.(example|sample|template|dist|schema|defaults?)$|^\.env\.(example|sample|template)\b/

const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj', '.sl']

/** Folders whose content editors, shells, hook managers, dev containers and agents run or obey. */
const TRUSTED_FOLDERS = new Set([
  ...SECRET_FOLDERS,
  ...VERSION_CONTROL,
  ...['.husky', '.githooks', '.git-hooks', '.lefthook', '.lefthook-local'],
  ...['.direnv', '.devcontainer', '.idx', '.mise'],
  ...['.vscode', '.idea', '.fleet', '.zed', '.vs', '.helix', '.emacs.d'],
  ...[
    '.claude',
    '.codex',
    '.cursor',
    '.gemini',
    '.windsurf',
    '.continue',
    '.roo',
    '.clinerules',
    '.cline',
    '.kilocode',
  ],
  ...[
    '.kiro',
    '.amazonq',
    '.opencode',
    '.crush',
    '.qwen',
    '.augment',
    '.trae',
    '.junie',
    '.goose',
    '.factory',
    '.agents',
    '.amp',
    '.openhands',
    '.trunk',
  ],
])

const SHELLS =
  'bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|cshrc|tcshrc|kshrc|login|xprofile|xinitrc|xsession|pam_environment|inputrc|tmux\\.conf|envrc|mise\\.toml|mise\\.local\\.toml'
const EDITORS = 'vimrc|exrc|nvimrc|nvim\\.lua|lvimrc|dir-locals\\.el|dir-locals-2\\.el|emacs|gdbinit|lldbinit|pdbrc'
const INTERPRETERS = 'rprofile|irbrc|pryrc'
const PACKAGE_MANAGERS = 'npmrc|yarnrc|yarnrc\\.yml|pnpmfile\\.cjs|pypirc'
const GIT = 'gitconfig|gitmodules|pre-commit-config\\.ya?ml|overcommit\\.yml|simple-git-hooks\\.(json|c?js|mjs)'
const CONTAINERS = 'devcontainer\\.json|gitpod\\.yml|gitpod\\.dockerfile|replit'
const AGENTS = 'mcp\\.json|aider\\.conf\\.yml|cursorrules|windsurfrules|crush\\.json'
const TRUSTED_FILE = new RegExp(
  `^\\.(${[SHELLS, EDITORS, INTERPRETERS, PACKAGE_MANAGERS, GIT, CONTAINERS, AGENTS].join('|')}|ripgreprc|netrc)$` +
    '|^\\.?lefthook(-local)?\\.(ya?ml|toml|json)$|^(opencode|crush)\\.jsonc?$|^mise(\\.local)?\\.toml$' +
    '|\\.(code-workspace|sublime-project)$' +
    '|^tool-hub\\.(ya?ml|jsonc?|json5|mjs)$',
)
/** Folders and files that are trusted below another folder. */
const TRUSTED_BELOW = new Map([
  ['node_modules', new Set(['.bin'])],
  ['.config', new Set(['fish', 'nushell', 'nvim', 'autostart', 'systemd', 'git', 'direnv', 'mise'])],
  ['.local', new Set(['bin'])],
  ['.cargo', new Set(['config', 'config.toml'])],
  ['.yarn', new Set(['releases', 'plugins'])],
  ['.hg', new Set(['hgrc', 'hgrc-not-shared', 'sharedpath'])],
  ['.sl', new Set(['config', 'sharedpath'])],
])
/** Package managers and version control write these during normal work; `git-folder.ts` covers what git runs. */
const OPEN_TO_COMMANDS = new Set([...VERSION_CONTROL, '.gitmodules', '.bin'])

/** Why file tools may not write such a place. */
export const RUN_BY_OTHERS = 'is run or trusted by other programs'

/** Why a file tool may not read or write a path below a root; the names are those between the root and the path. */
export function closedToFileTools(names: readonly string[], access: 'read' | 'write'): string | undefined {
  return access === 'read' ? secretReason(names.map((name) => name.toLowerCase())) : trustedReason(names.map(foldName))
}

/** Whether file tools may not read a file because of its own name. */
export function isSecretName(name: string): boolean {
  const lower = name.toLowerCase()
  const original = originalName(lower)
  return SECRET_FILE.test(original) || lower.startsWith('.env') || SECRET_FOLDERS.has(original)
}

function secretReason(names: readonly string[]): string | undefined {
  const isSecret =
    SECRET_FILE.test(originalName(names.at(-1) ?? '')) ||
    names.some((name) => name.startsWith('.env') || SECRET_FOLDERS.has(originalName(name)))
  return isSecret ? 'looks like a secret' : undefined
}

function trustedReason(names: readonly string[]): string | undefined {
  const isTrusted = names.some(
    (name, index) =>
      isTrustedName(name, names[index - 1], index === names.length - 1) || SECRET_FOLDERS.has(originalName(name)),
  )
  return isTrusted ? RUN_BY_OTHERS : undefined
}

/** The name before it was set aside: what counted as created by a command may be a secret, such as another hub's data. */
function originalName(name: string): string {
  return name.includes('.set-aside-') ? name.replace(/\.set-aside-[0-9a-f]{8}$/, '') : name
}

/** Whether commands may not write an entry with this name; `parent` is the name of its folder. */
export function isClosedToCommands(name: string, parent: string | undefined): boolean {
  const folded = foldName(name)
  if (OPEN_TO_COMMANDS.has(folded)) return false
  return isTrustedName(folded, parent && foldName(parent), true)
}

/** Whether a folder with this name contains entries that commands may not write. */
export function holdsClosed(name: string): boolean {
  const below = TRUSTED_BELOW.get(foldName(name)) ?? []
  return [...below].some((child) => !OPEN_TO_COMMANDS.has(child))
}

/** Whether commands do not see an entry with this name. */
export function isHiddenFromCommands(name: string, isFolder: boolean): boolean {
  const folded = originalName(foldName(name))
  return isFolder ? SECRET_FOLDERS.has(folded) : SECRET_FILE.test(folded) && !SAMPLE.test(folded)
}

function isTrustedName(name: string, parent: string | undefined, isLast: boolean): boolean {
  if (TRUSTED_FOLDERS.has(name) || TRUSTED_BELOW.get(parent ?? '')?.has(name)) return true
  return isLast && TRUSTED_FILE.test(name)
}

// Other file systems ignore or strip these in names: in a folder that is shared with them, a name has several spellings.
const IGNORED = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu
const TRAILING = /[. ]+$/
const SHORT_GIT = /^git~\d+$/

/** The name as other systems may interpret it: `.GIT`, `.git.`, `.g\u200cit` and `GIT~1` are all `.git` somewhere. */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  const plain = isPlain(lower) ? lower : lower.normalize('NFKC').replace(IGNORED, '').toLowerCase()
  const folded = plain.replace(TRAILING, '')
  return SHORT_GIT.test(folded) ? '.git' : folded
}

function isPlain(name: string): boolean {
  return /^[\0-\x7f]*$/.test(name)
}

/** The replacement character for bytes that are not valid UTF-8. */
const REPLACEMENT = '\uFFFD'
/** It is checked again each time, so it must not be large. */
const MAX_ENTRIES = 20_000
const SLASH = Buffer.from('/')

/** An entry whose name is not valid UTF-8: no sandbox can close it. */
export interface Unnameable {
  readonly path: Buffer
  readonly isFolder: boolean
}

/** The entries of a folder with such a name; `names` are all names in it, as text. */
export function unnameableIn(folder: string, names: Iterable<string>): Unnameable[] {
  if (![...names].some((name) => name.includes(REPLACEMENT))) return []
  const path = Buffer.from(folder)
  return listBytes(path)
    .filter(({ name }) => !Buffer.from(name.toString()).equals(name))
    .map((entry) => ({ path: Buffer.concat([path, SLASH, entry.name]), isFolder: entry.isDirectory() }))
}

/** Throws if it, or something below it, is protected or looks like a secret. */
export function refuseProtected(found: Unnameable): void {
  let entriesLeft = MAX_ENTRIES
  const open = [found]
  for (let at = open.pop(); at; at = open.pop()) {
    const { path, isFolder } = at
    const [parent, name] = path.toString().split('/').slice(-2)
    if (isProtected(name!, parent, isFolder)) throw cannotClose(path)
    if (!isFolder || name === 'node_modules') continue
    const entries = listBytes(path)
    entriesLeft -= entries.length
    if (isGitFolder(new Set(entries.map((entry) => entry.name.toString())))) throw cannotClose(path)
    if (entriesLeft < 0) throw tooLarge(found.path)
    for (const entry of entries)
      open.push({ path: Buffer.concat([path, SLASH, entry.name]), isFolder: entry.isDirectory() })
  }
}

function isProtected(name: string, parent: string | undefined, isFolder: boolean): boolean {
  return isClosedToCommands(name, parent) || isHiddenFromCommands(name, isFolder) || foldName(name) === '.git'
}

function listBytes(folder: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    // A command has removed it meanwhile, or put a file in its place.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
    throw error
  }
}

function cannotClose(path: Buffer): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `${path} must be closed to commands and cannot be, because its path is not valid UTF-8.`,
    { hint: 'Rename the file or the folder, or move it out of the sandbox roots.' },
  )
}

function tooLarge(path: Buffer): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `The name of ${path} is not valid UTF-8, and it holds more than ${MAX_ENTRIES} files: they are not looked through for secrets.`,
    { hint: 'Rename the folder, or move it out of the sandbox roots.' },
  )
}
