import { posix } from 'node:path'
import type { CodePlaces, CommandPlace } from '../reading.ts'
import type { ProgramLook } from './programs/look-at-program.ts'
import type { CommandDraft } from './shell-reader.ts'

/** Of longer commands nobody can say which words are files. */
const MAX_WORDS = 32
/** What interpreters add to the name of a script. */
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '.rb', '.sh']
/** What they look for in a folder. */
const ENTRIES = ['package.json', 'index.js', 'index.ts', '__main__.py', '__init__.py']
/** Options of npm, pnpm and yarn, and commands of yarn, that run scripts of other packages. */
const WORKSPACES =
  /^(?:-w|-ws|-r|-F|--ws|--recursive|--(?:workspace|workspaces|workspace-root|filter|filter-prod)(?:=.*)?|workspaces?|foreach)$/s
const PACKAGE_MANAGERS = new Set(['npm', 'pnpm', 'yarn'])

/** Where the code may be that a command runs, unless all is known of what it does. */
export function findCode(
  { words, doubts }: CommandDraft,
  look: ProgramLook,
  folders: readonly string[] | undefined,
  place: CommandPlace,
): CodePlaces | undefined {
  const values = words.map(({ value = '' }) => value)
  const isCalledByPath = values[0]?.includes('/') === true
  const resolve = (names: readonly string[]) =>
    names.filter(Boolean).flatMap((name) => (folders ?? []).map((folder) => posix.resolve(folder, name)))
  const places = [...doubts, ...look.hazards].flatMap(({ kind, at = values.length }) => (kind === 'hidden' ? at : []))
  const hidden = [...new Set(isCalledByPath ? [0, ...places] : places)].map((at) => {
    const names = namesAt(values, at)
    return {
      word: names.at(-1) ?? '',
      files: resolve(names.flatMap(spellings)),
      entries: resolve(names.flatMap(inFolder)),
    }
  })
  const named = resolve([...values.slice(isCalledByPath ? 0 : 1, MAX_WORDS).flatMap(namesIn), ...look.pathValues])
  const isOfPackage = look.hazards.some(({ reason }) => reason === 'runs a script of package.json')
  const projectFiles = isOfPackage ? ['package.json'] : look.projectFiles
  if (look.isKnown && projectFiles.length === 0 && hidden.length === 0) return undefined
  const files =
    hidden.length > 0 || !look.isKnown ? [...hidden.flatMap((each) => [...each.files, ...each.entries]), ...named] : []
  // Its input, or a text that is only known when it runs.
  const isUnnamed = hidden.length > 0 && hidden.every(({ word }) => word === '')
  const isOfWorkspace = PACKAGE_MANAGERS.has(values[0]!) && values.some((value) => WORKSPACES.test(value))
  return {
    // Commands cannot change what is outside.
    files: [...new Set(files)].filter((file) => isInsideRoots(file, place)),
    projectFiles,
    // An option such as -C or --prefix may name the folder of the project.
    folders: inFoldersAbove('.', [...(folders ?? []), ...named], place),
    hidden: hidden.map(({ word, files: its }) => ({ word, files: its })),
    isElsewhere: folders === undefined || values.length > MAX_WORDS || isOfWorkspace || isUnnamed,
  }
}

/** What a word that hides something names: itself, or the value of the option that it is. */
function namesAt(values: readonly string[], at: number): string[] {
  const value = values[at] ?? ''
  if (!value.startsWith('-')) return [value]
  const within = namesIn(value)
  return within.length > 0 ? within : [values[at + 1] ?? '']
}

/** The names in a word: `--file=x` and `-fx` hold one. */
function namesIn(value: string): string[] {
  const [, after] = /^-{0,2}[\w.-]+=(.+)/s.exec(value) ?? []
  if (after !== undefined) return [after]
  if (!value.startsWith('-')) return [value]
  return /^-[^-]./s.test(value) ? [value.slice(2)] : []
}

/** `build` may be build.js, and `a.b` the module a/b.py. */
function spellings(name: string): string[] {
  const module = /^[\w.]+$/.test(name) ? [`${name.replaceAll('.', '/')}.py`] : []
  return name === '' ? [] : [...ENDINGS.map((ending) => `${name}${ending}`), ...module]
}

function inFolder(name: string): string[] {
  const folders = /^\w+(?:\.\w+)+$/.test(name) ? [name, name.replaceAll('.', '/')] : [name]
  return name === '' ? [] : folders.flatMap((folder) => ENTRIES.map((entry) => `${folder}/${entry}`))
}

/** A path in each of some folders, and in those above them inside of the roots. */
export function inFoldersAbove(path: string, folders: readonly string[], place: CommandPlace): readonly string[] {
  const found = new Set<string>()
  for (const start of folders)
    for (let folder = start; isInsideRoots(folder, place); folder = posix.dirname(folder)) {
      found.add(posix.resolve(folder, path))
      if (folder === '/') break
    }
  return [...found]
}

/** Says whether a real path lies in one of the roots. */
export function isInsideRoots(path: string, { roots }: Pick<CommandPlace, 'roots'>): boolean {
  const normal = posix.normalize(path)
  return roots.some((root) => normal === root || normal.startsWith(root.endsWith('/') ? root : `${root}/`))
}
