import { holdsRunLater, isRunLater, isRunLaterAt, RUN_LATER_NAMES } from './run-later-names.ts'
import { isSecretEntry, isSecretStore, leadsToSecret, SECRET_NAMES } from './secret-names.ts'

/**
 * Places that are protected by their name, at any depth and whether they exist or not. File tools refuse to write what
 * other programs run (`run-later-names.ts`) and to read secrets (`secret-names.ts`); commands see the former read-only,
 * do not see secrets, and lose what they create there.
 */

/** Why file tools may not write such a place. */
export const RUN_BY_OTHERS = 'is run or trusted by other programs'

/** Why a file tool may not read or write a path below a root; the names are those between the root and the path. */
export function closedToFileTools(names: readonly string[], access: 'read' | 'write'): string | undefined {
  const folded = foldNames(names)
  if (access === 'read') return leadsToSecret(folded) ? 'looks like a secret' : undefined
  return isRunLater(folded, 'file tools') || folded.some(isSecretStore) ? RUN_BY_OTHERS : undefined
}

/** Whether commands may not write an entry with this name; `folder` is its folder, of which the last two names count. */
export function isClosedToCommands(name: string, folder: string | undefined): boolean {
  const names = foldNames([name])
  const above = folder === undefined ? [] : foldNames(lastTwo(folder))
  const all = [...above, ...names]
  // A folder above that is closed itself is found as such.
  return names.some((_, index) => isRunLaterAt(all, above.length + index, 'commands'))
}

/** The last names of a path, which can have thousands. */
function lastTwo(path: string): string[] {
  const slash = path.lastIndexOf('/')
  return path.slice(slash > 0 ? path.lastIndexOf('/', slash - 1) + 1 : 0).split('/')
}

/** Whether a folder with this name contains entries that commands may not write. */
export function holdsClosed(name: string): boolean {
  return foldNames([name]).some(holdsRunLater)
}

/** Whether commands do not see an entry with this name; `folder` is its folder. */
export function isHiddenFromCommands(name: string, isFolder: boolean, folder?: string): boolean {
  const parent = folder?.slice(folder.lastIndexOf('/') + 1)
  const names = foldNames(parent ? [parent, name] : [name])
  return isSecretEntry(names.at(-1)!, names.at(-2), isFolder ? 'folder' : 'file')
}

/** Folds each name; a backslash separates names on some systems. */
function foldNames(names: readonly string[]): string[] {
  return names.flatMap((name) => (name.includes('\\') ? name.split('\\') : [name])).map(foldName)
}

// Other file systems ignore or strip these in names: in a folder that is shared with them, a name has several spellings.
const IGNORED = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu
const TRAILING = /[. ]+$/
/** A stream of a file, such as `.git::$INDEX_ALLOCATION`. */
const STREAM = /(?<=.):.*$/s

/**
 * The name as other systems may interpret it: `.GIT`, `.git.`, `.g\u200cit`, `.git::$INDEX_ALLOCATION` and `GIT~1` are
 * all `.git` somewhere.
 */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  const plain = isPlain(lower) ? lower : lower.normalize('NFKC').replace(IGNORED, '').toLowerCase()
  const whole = plain.includes(':') ? plain.replace(STREAM, '') : plain
  const folded = whole.replace(TRAILING, '')
  return (folded.includes('~') && longName(folded)) || folded
}

function isPlain(name: string): boolean {
  return /^[\0-\x7f]*$/.test(name)
}

/** A name in the old form of Windows, made of a longer one: at most six characters, `~1`, and an extension. */
const SHORT_NAME = /^([^.~]{1,6})~\d{1,6}(?:\.([^.]{0,3}))?$/
/** The same when there are many similar names: the first two characters and a hash. */
const HASHED = /^(..)[0-9a-f]{4}$/
/** The protected names that a short one can stand for; one that begins with a star is recognised by its extension. */
const LONG_NAMES = [...new Set([...RUN_LATER_NAMES, ...SECRET_NAMES])].filter((name) => !name.startsWith('*'))

/** The protected name that a short name may stand for. */
function longName(short: string): string | undefined {
  const [, base, extension = ''] = SHORT_NAME.exec(short) ?? []
  if (base === undefined) return undefined
  const start = HASHED.exec(base)?.[1]
  return LONG_NAMES.find((name) => {
    const isOpen = name.includes('*')
    const long = baseOf(name).replace(/\*.*$/s, '')
    const isSame = isOpen ? base.startsWith(long.slice(0, 6)) : base === long.slice(0, 6)
    const isHash = start !== undefined && long.startsWith(start)
    return (isSame || isHash) && (isOpen || extension === extensionOf(name).slice(0, 3))
  })
}

/** The part of a long name that its short one begins with: without leading and further dots, and without the extension. */
function baseOf(name: string): string {
  const start = name.replace(/^[. ]+/, '')
  const dot = start.lastIndexOf('.')
  return (dot > 0 ? start.slice(0, dot) : start).replaceAll(/[. ]/g, '')
}

function extensionOf(name: string): string {
  const start = name.replace(/^[. ]+/, '')
  const dot = start.lastIndexOf('.')
  return dot > 0 ? start.slice(dot + 1) : ''
}
