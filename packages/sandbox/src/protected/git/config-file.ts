import { resolve } from 'node:path'

/** A larger config is not read. */
export const MAX_CONFIG_BYTES = 64 * 1024

/** Names of remotes and branches, as git itself writes them; a URL in their place would be contacted. */
const NAME = /^[\w.][\w./-]*$/
/** URLs for which git starts nothing but itself and ssh. */
const PLAIN_URL = /^(https?|git|ssh|file):\/\/[^-]|^[\w.][\w.-]*@[\w.][\w.-]*:|^\.{0,2}\/|^[\w.][\w./-]*$/

/** Whether a value is harmless; `any` is. */
type ValueTest = RegExp | 'any'

const any = (...keys: readonly string[]): [string, ValueTest][] => keys.map((key) => [key, 'any'])
const matching = (test: RegExp, ...keys: readonly string[]): [string, ValueTest][] => keys.map((key) => [key, test])

/**
 * Settings that git itself writes and that name no program. Promisor remotes are not among them: `git status` fetches
 * missing objects from them, so they decide which server the user's git contacts.
 */
const HARMLESS: ReadonlyMap<string, ReadonlyMap<string, ValueTest>> = new Map([
  [
    'core',
    new Map([
      ...any('repositoryformatversion', 'filemode', 'bare', 'logallrefupdates', 'ignorecase', 'precomposeunicode'),
      ...any('symlinks', 'autocrlf', 'eol', 'safecrlf', 'sparsecheckout', 'sparsecheckoutcone', 'worktree', 'abbrev'),
      ...any('splitindex', 'untrackedcache', 'quotepath'),
      ...matching(/^(false|no|off|0)$/i, 'fsmonitor'),
    ]),
  ],
  [
    'extensions',
    new Map([
      ...matching(/^(sha1|sha256)$/, 'objectformat', 'compatobjectformat'),
      ...matching(/^(files|reftable)$/, 'refstorage'),
      ...any('worktreeconfig'),
    ]),
  ],
  ['index', new Map(any('version', 'sparse', 'threads'))],
  ['init', new Map(any('defaultbranch'))],
  ['remote', new Map([...matching(PLAIN_URL, 'url', 'pushurl'), ...any('fetch', 'push', 'mirror', 'tagopt', 'prune')])],
  ['branch', new Map([...matching(NAME, 'remote', 'pushremote'), ...any('merge', 'rebase')])],
  ['submodule', new Map([...matching(PLAIN_URL, 'url'), ...any('active', 'branch', 'path')])],
  ['user', new Map(any('name', 'email'))],
  ['pull', new Map(any('rebase', 'ff'))],
  ['push', new Map(any('default', 'autosetupremote'))],
  ['fetch', new Map(any('prune'))],
  ['gc', new Map(any('auto'))],
  ['rerere', new Map(any('enabled', 'autoupdate'))],
])

/** What git reads but never writes: lines that continue, and sections with a dot. It looks at one line at a time. */
const UNUSUAL = /\\\r?$|^[^\S\r\n\u2028\u2029]*\[[^"\]\r\n\u2028\u2029]*\./m

/** Whether every setting is harmless; `mayBeWorkTree` gets the work tree that a config names. Default: all sections may be there. */
export function isHarmlessConfig(
  text: string,
  gitFolder: string,
  mayBeWorkTree: (path: string) => boolean,
  sections?: readonly string[],
): boolean {
  if (UNUSUAL.test(text)) return false
  return [...readGitSettings(text)].every((setting) => {
    if (setting === 'unreadable') return false
    const { section, key, value } = setting
    if (sections && !sections.includes(section)) return false
    const test = HARMLESS.get(section)?.get(key)
    if (test === undefined) return false
    // `git checkout` writes there, possibly for a user outside the sandbox.
    if (section === 'core' && key === 'worktree') return isPlainWay(value) && mayBeWorkTree(resolve(gitFolder, value))
    return test === 'any' || test.test(value)
  })
}

/**
 * Whether a path means the same to git, on disk and here: git interprets quotes and escapes, and before 2.45 turns a tab
 * into a blank; the disk resolves `link/..`; bytes that are no text are read as the replacement character.
 */
export function isPlainWay(path: string): boolean {
  return !/[\0-\x1f\x7f"\\#;\uFFFD]/.test(path) && !/(^|\/)(?!\.{1,2}\/)[^/]+\/+(\.\/+)*\.\.(\/|$)/.test(path)
}

/** One setting of a config file. */
export interface GitSetting {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** Sticky: each is tried where the one before has ended. A line that continues has a backslash at its end. */
const BETWEEN = /(?:[ \t\r\n]|[#;][^\n]*)*/y
const SECTION = /\[([A-Za-z0-9-]*)[A-Za-z0-9.-]*(?:[ \t\r]+"(?:[^"\\\n]|\\[^\n])*")?\]/y
const KEY = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)|(?=\n))/y
const VALUE = /((?:[^"\\\n#;]|\\[\ntbn"\\]|"(?:[^"\\\n]|\\[\ntbn"\\])*")*)(?:[#;][^\n]*)?(?=\n|$)/y
const PIECE = /"((?:[^"\\]|\\.)*)"|([ \t\r]+)|((?:[^" \t\r\\]|\\.)+)/gs
const ESCAPES: Readonly<Record<string, string>> = { '\n': '', t: '\t', b: '\b', n: '\n' }

/** Parses the settings of a config file as git does; what follows a mistake is not read. */
export function* readGitSettings(text: string): Generator<GitSetting | 'unreadable'> {
  const lines = `${text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')}\n`
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(lines) ?? undefined
    if (found) at = pattern.lastIndex
    return found
  }
  for (let section = ''; ; ) {
    take(BETWEEN)
    if (at === lines.length) return
    const header = take(SECTION)
    if (header) {
      section = header[1]!.toLowerCase()
      continue
    }
    const [, key, hasValue] = take(KEY) ?? []
    const value = hasValue === undefined ? '' : take(VALUE)?.[1]
    if (key === undefined || value === undefined) return yield 'unreadable'
    yield { section, key: key.toLowerCase(), value: unquoted(value) }
  }
}

/** Without the quotes, the escapes, and the blanks around what is not quoted. */
function unquoted(value: string): string {
  let text = ''
  let blanks = ''
  for (const [, quoted, blank, plain] of value.matchAll(PIECE)) {
    if (blank !== undefined) blanks = text === '' ? '' : blank
    else {
      text += blanks + (quoted ?? plain ?? '').replace(/\\(.)/gs, (_, code: string) => ESCAPES[code] ?? code)
      blanks = ''
    }
  }
  return text
}
