/**
 * The one definition of a secret by its name: file tools and searches refuse it, commands do not see it, and the values
 * in it are redacted. `{a,b}` are alternatives, `*` is any text.
 */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'variables of a deployment': ['.env*', '*.env'],
  'keys and certificates': ['*.{pem,key,p8,p12,pfx,pkcs12,ppk,jks,keystore,kdbx}', 'id_{rsa,dsa,ecdsa,ed25519}{,_sk}'],
  'logins of programs': [
    '.{netrc,pgpass,my.cnf,mylogin.cnf,git-credentials,pypirc,htpasswd,dockercfg,boto,s3cfg,vault-token}',
    '.terraformrc',
  ],
  'credentials of clouds and services': [
    '{application_default_credentials,credentials,client_secret*,service{-,_,}account*,*-firebase-adminsdk-*}.json',
    '*.publishsettings',
  ],
  'state of infrastructure, which contains passwords': ['*.tfstate', '*.tfstate.backup'],
}

/**
 * Folders in which everything is a secret, and which programs trust, so that nothing may be written there either.
 * `.tool-hub`, the data folder of a hub, has its keys, tokens and sign-ins.
 */
export const SECRET_STORES: readonly string[] = ['.{ssh,gnupg,aws,azure,kube,tool-hub}']
const FOLDERS = [...SECRET_STORES, '.env*']

/** Secrets whose name says nothing without the folder. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  '.docker': ['config.json'],
  '.cargo': ['credentials', 'credentials.toml'],
  '.gem': ['credentials'],
  '.m2': ['settings.xml', 'settings-security.xml'],
  '.streamlit': ['secrets.toml'],
  '.terraform.d': ['credentials.tfrc.json'],
  '.config': ['gcloud', 'rclone', 'doctl'],
  gh: ['hosts.yml'],
}

/** Made to be seen: they contain names of variables, not values. */
const SAMPLES = [
  '.env*.{example,sample,template,dist,schema,default,defaults}',
  '.env.{example,sample,template}.*',
  '{example,sample,template,dist,default,defaults}.env',
  '*.{example,sample,template}.env',
]

/** All of them, also as globs of ripgrep; those below a folder are not among them. */
export const SECRET_NAMES: readonly string[] = [...new Set(expandNames([...FOLDERS, ...Object.values(FILES).flat()]))]

const isSecretFileName = compileNames(Object.values(FILES).flat())
const isSecretFolderName = compileNames(FOLDERS)
const isStoreName = compileNames(SECRET_STORES)
const isSample = compileNames(SAMPLES)
const BELOW_FOLDER = new Map(Object.entries(BELOW).map(([folder, names]) => [folder, compileNames(names)]))

/** Whether an entry is a secret by its own name and that of its folder, which are folded. */
export function isSecretEntry(name: string, folder: string | undefined, kind: 'file' | 'folder'): boolean {
  const original = originalName(name)
  if (folder !== undefined && BELOW_FOLDER.get(folder)?.(original)) return true
  return (kind === 'folder' ? isSecretFolderName(original) : isSecretFileName(original)) && !isSample(original)
}

/** Whether one of the names, which are folded, leads to a secret; the last may be a file or a folder. */
export function leadsToSecret(names: readonly string[]): boolean {
  return names.some((name, index) => {
    const folder = names[index - 1]
    const mayBeFile = index === names.length - 1
    return isSecretEntry(name, folder, 'folder') || (mayBeFile && isSecretEntry(name, folder, 'file'))
  })
}

/** Whether a folder with this name, which is folded, is a store of secrets, also after it was set aside. */
export function isSecretStore(name: string): boolean {
  return isStoreName(originalName(name))
}

/** Whether a file with this name has lines such as `NAME=value`; the name is folded. */
export function hasVariables(name: string): boolean {
  const original = originalName(name)
  return (original.startsWith('.env') || original.endsWith('.env')) && !isSample(original)
}

/** The name before it was set aside: what counted as created by a command may be a secret, such as another hub's data. */
function originalName(name: string): string {
  return name.includes('.set-aside-') ? name.replace(/\.set-aside-[0-9a-f]{8}$/, '') : name
}

/** Writes out the alternatives of patterns, in lower case: `.{a,b}c` becomes `.ac` and `.bc`. */
export function expandNames(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const [all, options] = /\{([^{}]*)\}/.exec(pattern) ?? []
    if (all === undefined) return [pattern.toLowerCase()]
    return expandNames(options!.split(',').map((option) => pattern.replace(all, () => option)))
  })
}

/** Returns whether a name in lower case matches one of the patterns: `{a,b}` are alternatives, `*` is any text. */
export function compileNames(patterns: readonly string[]): (name: string) => boolean {
  const names = expandNames(patterns)
  const plain = new Set(names.filter((name) => !name.includes('*')))
  const sources = names.filter((name) => name.includes('*')).map(toSource)
  if (sources.length === 0) return (name) => plain.has(name)
  const expression = new RegExp(`^(?:${sources.join('|')})$`, 's')
  return (name) => plain.has(name) || expression.test(name)
}

function toSource(pattern: string): string {
  return pattern.replace(/[.+^$()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
}
