import type { Target } from './open-roots.ts'

const SECRET_FOLDERS = new Set(['.ssh', '.gnupg', '.aws'])
const SECRET_NAME = /\.pem$|\.key$|^\.netrc$/
/** A file, or a folder of them. */
const SECRET_ANYWHERE = /^\.env/

const TRUSTED_FOLDERS = new Set([
  ...SECRET_FOLDERS,
  ...['.git', '.hg', '.svn', '.husky', '.direnv', '.vscode', '.idea', '.devcontainer', '.fleet', '.zed'],
  ...['.claude', '.codex', '.cursor', '.gemini', '.windsurf', '.continue', '.roo', '.clinerules', '.tool-hub'],
])
const TRUSTED_NAME =
  /^\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|cshrc|tcshrc|kshrc|login|xprofile|xinitrc|xsession|pam_environment|inputrc|vimrc|exrc|tmux\.conf|gitconfig|gitmodules|ripgreprc|npmrc|yarnrc|yarnrc\.yml|pypirc|netrc|envrc|mcp\.json|aider\.conf\.yml)$|^tool-hub\.(yaml|yml|json|jsonc|json5|mjs)$/
/** Folders that are trusted below another one. */
const TRUSTED_BELOW = new Map([
  ['node_modules', new Set(['.bin'])],
  ['.config', new Set(['fish', 'autostart', 'systemd', 'git'])],
  ['.local', new Set(['bin'])],
])

/** Why a path below a root is closed by default: secrets are not read; what others run or trust is not written. */
export function protectedPath({ names }: Target, access: 'read' | 'write'): string | undefined {
  return access === 'read' ? secret(names) : trusted(names.map(foldName))
}

function secret(names: readonly string[]): string | undefined {
  const folded = names.map((name) => name.toLowerCase())
  const isSecret =
    SECRET_NAME.test(folded.at(-1) ?? '') ||
    folded.some((name) => SECRET_ANYWHERE.test(name) || SECRET_FOLDERS.has(name))
  return isSecret ? 'looks like a secret' : undefined
}

function trusted(names: readonly string[]): string | undefined {
  const isTrusted =
    TRUSTED_NAME.test(names.at(-1) ?? '') ||
    names.some(
      (name, index) => TRUSTED_FOLDERS.has(name) || TRUSTED_BELOW.get(names[index - 1] ?? '')?.has(name) === true,
    )
  return isTrusted ? 'is run or trusted by other programs' : undefined
}

// What file systems of others leave out of a name, or add to it: a folder that is shared with them has more spellings.
const IGNORED = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu
const TRAILING = /[. ]+$/
const SHORT_GIT = /^git~\d+$/

/** The name that other systems may take it for: `.GIT`, `.git.`, `.g\u200cit` and `GIT~1` are all `.git` somewhere. */
function foldName(name: string): string {
  const lower = name.toLowerCase()
  const plain = isPlain(lower) ? lower : lower.normalize('NFKC').replace(IGNORED, '').toLowerCase()
  const folded = plain.replace(TRAILING, '')
  return SHORT_GIT.test(folded) ? '.git' : folded
}

function isPlain(name: string): boolean {
  return /^[\0-\x7f]*$/.test(name)
}
