/** Names that no search looks at or into, as ripgrep globs that ignore case: secrets, and the files of secrets. */
export const SECRET_GLOBS = ['.ssh', '.gnupg', '.aws', '.env*', '*.pem', '*.key', '.netrc'] as const

/** Names that no search looks at or into: the innards of git, and what tool-hub itself is writing. */
export const OWN_GLOBS = ['.git', '.tool-hub-*.tmp'] as const

const SECRET = /^(?:\.ssh|\.gnupg|\.aws|\.env.*|.*\.pem|.*\.key|\.netrc)$/is
const OWN = /^(?:\.git|\.tool-hub-.*\.tmp)$/s

/** The same as the globs, for one name. */
export function isLeftOut(name: string): boolean {
  return OWN.test(name) || SECRET.test(name)
}
