/**
 * Names that no search looks at or into, as ripgrep globs that ignore case: secrets, the files of secrets, and what was set
 * aside, which may be either.
 */
export const SECRET_GLOBS = [
  ...['.ssh', '.gnupg', '.aws', '.env*'],
  ...['*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk', 'id_rsa_sk', 'id_dsa_sk'],
  ...['.netrc', '.pgpass', '.git-credentials', '.pypirc', '.htpasswd'],
  '*.set-aside-????????',
] as const

/** Names that no search looks at or into: the innards of git, and what tool-hub itself is writing. */
export const OWN_GLOBS = ['.git', '.tool-hub-*.tmp'] as const

const SECRET =
  /^(?:\.ssh|\.gnupg|\.aws|\.env.*|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.(?:netrc|pgpass|git-credentials|pypirc|htpasswd)|.*\.set-aside-.{8})$/is
const OWN = /^(?:\.git|\.tool-hub-.*\.tmp)$/s

/** The same as the globs, for one name. */
export function isLeftOut(name: string): boolean {
  return OWN.test(name) || SECRET.test(name)
}
