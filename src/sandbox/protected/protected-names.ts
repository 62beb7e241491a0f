/**
 * The one list of places that are protected by their name, at any depth and whether they exist or not. File tools refuse
 * to write them and to read secrets; commands see them read-only, do not see secrets, and lose what they create there.
 */

/** The data folder of a hub has its keys, tokens and sign-ins. */
const SECRET_FOLDERS = new Set(['.ssh', '.gnupg', '.aws', '.tool-hub'])
const SECRET_FILE =
  /^\.env|\.(pem|key|p12|pfx|jks|keystore|kdbx)$|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|^\.(netrc|pgpass|git-credentials|pypirc|htpasswd)$/
/** Made to be seen. */
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
/** Package managers and version control write these in the course of their work; what git runs, `git-folder.ts` knows. */
const OPEN_TO_COMMANDS = new Set([...VERSION_CONTROL, '.gitmodules', '.bin'])

/** Why file tools may not write such a place. */
export const RUN_BY_OTHERS = 'is run or trusted by other programs'

/** Why a file tool may not read or write a path below a root; the names are those between the root and the path. */
export function closedToFileTools(names: readonly string[], access: 'read' | 'write'): string | undefined {
  return access === 'read' ? secretReason(names.map((name) => name.toLowerCase())) : trustedReason(names.map(foldName))
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

/** The name before it was set aside: what counted as a command's may be a secret of somebody else, such as another hub's data. */
function originalName(name: string): string {
  return name.replace(/\.set-aside-[0-9a-f]{8}$/, '')
}

/** Whether commands may not write what has this name in this folder; `parent` is the name of the folder. */
export function isClosedToCommands(name: string, parent: string | undefined): boolean {
  const folded = foldName(name)
  if (OPEN_TO_COMMANDS.has(folded)) return false
  return isTrustedName(folded, parent && foldName(parent), true)
}

/** Whether commands may not write something in a folder with this name. */
export function holdsClosed(name: string): boolean {
  const below = TRUSTED_BELOW.get(foldName(name)) ?? []
  return [...below].some((child) => !OPEN_TO_COMMANDS.has(child))
}

/** Whether commands do not see what has this name. */
export function isHiddenFromCommands(name: string, isFolder: boolean): boolean {
  const folded = originalName(foldName(name))
  return isFolder ? SECRET_FOLDERS.has(folded) : SECRET_FILE.test(folded) && !SAMPLE.test(folded)
}

function isTrustedName(name: string, parent: string | undefined, isLast: boolean): boolean {
  if (TRUSTED_FOLDERS.has(name) || TRUSTED_BELOW.get(parent ?? '')?.has(name)) return true
  return isLast && TRUSTED_FILE.test(name)
}

// What file systems of others leave out of a name, or add to it: a folder that is shared with them has more spellings.
const IGNORED = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu
const TRAILING = /[. ]+$/
const SHORT_GIT = /^git~\d+$/

/** The name that other systems may take it for: `.GIT`, `.git.`, `.g\u200cit` and `GIT~1` are all `.git` somewhere. */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  const plain = isPlain(lower) ? lower : lower.normalize('NFKC').replace(IGNORED, '').toLowerCase()
  const folded = plain.replace(TRAILING, '')
  return SHORT_GIT.test(folded) ? '.git' : folded
}

function isPlain(name: string): boolean {
  return /^[\0-\x7f]*$/.test(name)
}
