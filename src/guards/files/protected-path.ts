import type { Target } from './open-roots.ts'

const SECRET_FOLDERS = new Set(['.ssh', '.gnupg', '.aws'])
const SECRET_NAME = /^\.env|\.pem$|\.key$|^\.netrc$/

const TRUSTED_FOLDERS = new Set([
  ...SECRET_FOLDERS,
  ...['.git', '.hg', '.svn', '.husky', '.vscode', '.idea', '.devcontainer', '.fleet', '.zed'],
  ...['.claude', '.codex', '.cursor', '.gemini', '.windsurf', '.continue', '.tool-hub'],
])
const TRUSTED_NAME =
  /^\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|cshrc|tcshrc|kshrc|login|inputrc|vimrc|exrc|gitconfig|gitmodules|npmrc|yarnrc|yarnrc\.yml|netrc|envrc|mcp\.json)$|^tool-hub\.(yaml|yml|json|jsonc|json5|mjs)$/

/** Why a path below a root is closed by default: secrets are not read; what others run or trust is not written. */
export function protectedPath({ names }: Target, access: 'read' | 'write'): string | undefined {
  // Some file systems fold case: `.GIT` must not be a way around.
  const folded = names.map((name) => name.toLowerCase())
  const last = folded.at(-1) ?? ''
  if (access === 'read') {
    const isSecret = SECRET_NAME.test(last) || folded.some((name) => SECRET_FOLDERS.has(name))
    return isSecret ? 'looks like a secret' : undefined
  }
  const isTrusted = TRUSTED_NAME.test(last) || folded.some((name) => TRUSTED_FOLDERS.has(name)) || isCommand(folded)
  return isTrusted ? 'is run or trusted by other programs' : undefined
}

function isCommand(names: readonly string[]): boolean {
  return names.some((name, index) => name === '.bin' && names[index - 1] === 'node_modules')
}
