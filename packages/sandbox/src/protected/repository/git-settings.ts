import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from '@tool-hub/core/lib'
import { realPath, statsIfThere } from '../../system/index.ts'
import { FileMemo, type NoteSource, readBounded } from '../disk/index.ts'
import { type GitSetting, readGitSettings } from '../git/index.ts'

interface OwnSetting extends GitSetting {
  readonly config: string
}

/** What the owner's git obeys in one repository. */
export interface OwnSettings {
  /** Those of the system and the user count in every repository; paths of included files are absolute. */
  readonly settings: readonly OwnSetting[]
  /** The folders in which git runs hooks and programs, and to which relative paths refer. */
  readonly workTrees: readonly string[]
  /** Those of them that a file of git names: git writes there, wherever a link leads. */
  readonly named: readonly string[]
  /** The git folder with the hooks: that of the repository, also for a worktree. */
  readonly commonFolder: string
}

/** A place that git uses because of a setting. */
export interface NamedPlace {
  readonly path: string
  /** The config with the setting, or with the include that leads to it. */
  readonly config: string
}

/** Places in the roots that git uses because of settings. */
export interface NamedPlaces {
  /** What git runs or reads, whether it exists or not. */
  readonly places: readonly NamedPlace[]
  /** Folders to which git writes. */
  readonly ways: readonly string[]
}

const SYSTEM_CONFIGS = [
  ...['/etc', '/usr/local/etc', '/opt/homebrew/etc', '/home/linuxbrew/.linuxbrew/etc'].map(
    (path) => `${path}/gitconfig`,
  ),
  ...(process.platform === 'darwin'
    ? ['/Library/Developer/CommandLineTools', '/Applications/Xcode.app/Contents/Developer'].map(
        (path) => `${path}/usr/share/git-core/gitconfig`,
      )
    : []),
]
/** A config with very many branches has some hundred kilobytes. */
const MAX_OWN_BYTES = 4 * 1024 ** 2
/** As in git. */
const MAX_INCLUDES = 10

/**
 * Reads the settings that git obeys because of a `.git`, which is a folder or the file of a worktree or a submodule, or
 * because of a bare repository. Returns undefined if there is none. The conditions of includes count as met.
 */
export function readOwnSettings(path: string, note: NoteSource): OwnSettings | undefined {
  const stats = statsIfThere(path)
  // A folder changes all the time; what matters in it is noted by itself.
  if (!stats?.isDirectory()) note(path)
  const gitFolder = stats?.isFile() ? pointerIn(path, note) : stats && path
  if (gitFolder === undefined) return undefined
  const commonFolder = pointerIn(join(gitFolder, 'commondir'), note) ?? gitFolder
  const files = [...configsOfUser(), join(commonFolder, 'config'), join(gitFolder, 'config.worktree')]
  const settings = [
    ...files.flatMap((config) => settingsIn(config, MAX_INCLUDES, note).map((setting) => ({ ...setting, config }))),
    ...settingsOfEnvironment().map((setting) => ({ ...setting, config: '' })),
  ]
  const worktree = pointerIn(join(gitFolder, 'gitdir'), note)
  const named = [
    ...settings.flatMap(({ section, key, value }) =>
      section === 'core' && key === 'worktree' && value !== '' ? [resolve(gitFolder, value)] : [],
    ),
    ...(worktree === undefined ? [] : [dirname(worktree)]),
  ]
  const around = basename(path) === '.git' ? [dirname(path)] : [path, dirname(path)]
  return { settings, workTrees: [...new Set([...around, ...named])], named, commonFolder }
}

/** The places that settings name: hooks elsewhere, further files, scripts of filters and aliases. */
export function placesNamedBy({ settings, workTrees, named }: OwnSettings, note: NoteSource): NamedPlaces {
  const pathsOf = ({ section, key, value }: GitSetting): string[] => {
    if (section.startsWith('include') && key === 'path') return [value]
    if (isFolderOfHooks(section, key) || TRUSTED_FILES.has(`${section}.${key}`))
      return workTrees.flatMap((workTree) => expandPath(value, workTree))
    if (!RUNS.test(`${section}.${key}`)) return []
    return workTrees.flatMap((workTree) => wordsThatAreFiles(value, workTree, note))
  }
  // The first config that names a place counts: those of the user come first.
  const places = new Map<string, NamedPlace>()
  for (const setting of settings)
    for (const path of pathsOf(setting))
      if (!workTrees.includes(path) && !places.has(path)) places.set(path, { path, config: setting.config })
  return { places: [...places.values()], ways: named }
}

/** The folders with hooks that git uses in the work trees, or may use. */
export function hookFoldersOf({ settings, workTrees, commonFolder }: OwnSettings): string[] {
  const elsewhere = settings
    .filter(({ section, key }) => section === 'core' && key === 'hookspath')
    .flatMap(({ value }) => workTrees.flatMap((workTree) => expandPath(value, workTree)))
  return [join(commonFolder, 'hooks'), ...elsewhere]
}

function isFolderOfHooks(section: string, key: string): boolean {
  return (section === 'core' && key === 'hookspath') || (section === 'init' && key === 'templatedir')
}

/** Git reads only some of these; which ones can depend on the shell that starts it. */
function configsOfUser(): string[] {
  const { GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME } = process.env
  const home = homedir()
  const folder = XDG_CONFIG_HOME || join(home, '.config')
  const named = [GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL].filter((path) => path !== undefined && path !== '')
  return [...SYSTEM_CONFIGS, join(folder, 'git/config'), join(home, '.gitconfig'), ...(named as string[])]
}

function settingsOfEnvironment(): GitSetting[] {
  const count = Math.min(Number(process.env.GIT_CONFIG_COUNT) || 0, 1000)
  return Array.from({ length: count }, (_, index) => {
    const [section = '', ...rest] = (process.env[`GIT_CONFIG_KEY_${index}`] ?? '').toLowerCase().split('.')
    return { section, key: rest.at(-1) ?? '', value: process.env[`GIT_CONFIG_VALUE_${index}`] ?? '' }
  })
}

function settingsIn(file: string, includesLeft: number, note: NoteSource): GitSetting[] {
  note(file)
  return [...readGitSettings(readBounded(file, MAX_OWN_BYTES) ?? '')].flatMap((setting) => {
    if (setting === 'unreadable') return []
    if (!setting.section.startsWith('include') || setting.key !== 'path') return [setting]
    return expandPath(setting.value, dirname(file)).flatMap((value) => [
      { ...setting, value },
      ...(includesLeft > 0 ? settingsIn(value, includesLeft - 1, note) : []),
    ])
  })
}

/** Where a path in a setting leads; nowhere if it is empty, or in the folder of git itself or of another user. */
function expandPath(value: string, folder: string): string[] {
  const path = value.replace(/^:\(optional\)/, '').replace(/^~(?=\/|$)/, homedir())
  return path === '' || path.startsWith('~') || path.startsWith('%(prefix)') ? [] : [resolve(folder, path)]
}

/** The path that a pointer file, which has one line, names. */
function pointerIn(file: string, note: NoteSource): string | undefined {
  note(file)
  const text = readBounded(file, MAX_POINTER_BYTES + 1)
  if (text === undefined || text.length > MAX_POINTER_BYTES) return undefined
  return resolve(dirname(file), text.trimEnd().replace(/^gitdir: /, ''))
}

const MAX_POINTER_BYTES = 4096

/** Settings whose value is a file: what it says about files of the work tree, and whose signatures are good. */
const TRUSTED_FILES = new Set(['core.attributesfile', 'gpg.allowedsignersfile'])
/** Settings whose value is a command line. */
const RUNS = new RegExp(
  `^(${[
    'core\\.(fsmonitor|editor|pager|sshcommand|askpass|gitproxy|alternaterefscommand)',
    'sequence\\.editor|interactive\\.difffilter|credential\\.helper|gpg\\.(program|defaultkeycommand)|trailer\\.(cmd|command)',
    'submodule\\.update|remote\\.(uploadpack|receivepack)|uploadpack\\.packobjectshook|gc\\.recentobjectshook',
    'tar\\.command|hook\\.command|guitool\\.cmd|imap\\.tunnel|sendemail\\.(sendmailcmd|smtpserver|(to|cc|header)cmd)',
    '(filter|diff|merge|difftool|mergetool|alias|pager|man|browser)\\..+',
    // Of programs that come with their own hooks: Git LFS and git-secrets.
    'lfs\\.(path|clean|smudge)|secrets\\.providers',
  ].join('|')})$`,
)

function wordsThatAreFiles(line: string, workTree: string, note: NoteSource): string[] {
  return line
    .replace(/^!/, '')
    .split(/[\s;|&"'$()]+/)
    .filter((word) => word !== '' && !word.startsWith('-'))
    .map((word) => ({ isPath: word.includes('/'), path: resolve(workTree, word) }))
    .filter(({ isPath, path }) => {
      if (/\.\w+$/.test(path)) note(path)
      const stats = statsIfThere(path)
      // A program that is named by its path may be created later.
      return stats ? stats.isFile() : isPath
    })
    .map(({ path }) => path)
}

/** Places behind links have two paths. */
interface Named extends NamedPlaces {
  readonly real: readonly string[]
}

const NOTHING: Named = { places: [], ways: [], real: [] }

/**
 * Knows what git runs or reads because of the owner's settings: hooks elsewhere, included files, scripts of filters and
 * aliases. The repository may begin above the roots.
 */
export class GitAround {
  readonly #named = new FileMemo<Named>()

  /** Whether a path is one of these, because of a repository around it. */
  names(path: string): boolean {
    return this.around(path).some(({ places, real }) =>
      [...places.map((place) => place.path), ...real].some((place) => isWithin(place, path)),
    )
  }

  /** What the repositories around a path name. */
  around(path: string): Named[] {
    return workTreesAround(path).map((workTree) => this.placesOf(join(workTree, '.git')))
  }

  /** What a repository names: a `.git`, or a bare repository. */
  placesOf(path: string): Named {
    return this.#named.get(path, (note) => {
      const own = readOwnSettings(path, note)
      if (!own) return NOTHING
      const named = placesNamedBy(own, note)
      return { ...named, real: named.places.map((place) => realPath(place.path)) }
    })
  }
}

/** The work trees around paths, the innermost one of the first path first. */
export function workTreesAround(...paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder)
  return [...folders].filter((folder) => statsIfThere(join(folder, '.git')))
}
