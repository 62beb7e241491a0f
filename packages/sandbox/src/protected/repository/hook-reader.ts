import { readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isPlainObject, isWithin } from '@tool-hub/core/lib'
import { realPath, statsIfThere } from '../../system/index.ts'
import { FileMemo, type NoteSource, readBounded } from '../disk/index.ts'
import { isHookConfig } from '../names/index.ts'
import { hookFoldersOf, readOwnSettings, workTreesAround } from './git-settings.ts'

/** What the git hooks and the settings of a repository start by themselves, as far as their text shows it. */
export interface HookUse {
  /** Scripts that they start by their path, whether they exist or not. */
  readonly scripts: readonly string[]
  /** Other files of the repository that they name, and the installed programs. */
  readonly named: ReadonlySet<string>
  /** Every word of theirs: the names of the programs are among them. */
  readonly words: ReadonlySet<string>
  /** The scripts in package.json that they start. */
  readonly packageScripts: ReadonlySet<string>
}

/** Folders with hooks, in addition to those that git is configured to use. */
const HOOK_FOLDERS = ['.husky', '.githooks', '.git-hooks', '.lefthook', '.cargo-husky/hooks']
/** Keys of package.json that hook managers and linters of staged files read. */
export const HOOK_KEYS: readonly string[] = [
  ...['husky', 'simple-git-hooks', 'gitHooks', 'pre-commit', 'lint-staged', 'nano-staged', 'commitlint'],
]
/**
 * Settings of a project because of which agents, editors and shells start programs by themselves, outside of every
 * sandbox. Nobody may write these; the scripts that they start are protected like those of git hooks.
 */
const STARTING_SETTINGS: readonly string[] = [
  ...['.claude/settings.json', '.claude/settings.local.json', '.mcp.json', '.codex/config.toml', '.codex/hooks.json'],
  ...['.cursor/mcp.json', '.cursor/hooks.json', '.gemini/settings.json', '.kiro/settings/mcp.json', 'opencode.json'],
  ...['.vscode/mcp.json', '.vscode/tasks.json', '.devcontainer/devcontainer.json', '.devcontainer.json', '.gitpod.yml'],
  ...['.envrc', 'mise.toml', '.mise.toml', '.config/mise.toml', '.config/mise/config.toml', '.mise/config.toml'],
]
/** Programs whose first operand is a script. */
const INTERPRETERS =
  /^(?:\.|source|exec|env|sh|bash|zsh|dash|ksh|fish|node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php)$/
const PACKAGE_SCRIPT = /\b(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:(?:run|run-script)\s+)?(?:-\S+\s+)*([\w:.-]+)/g
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']
const INCLUDE = /^[ \t]*[-s]?include[ \t]+([^\n#]{1,4096})/gm
const MAX_INCLUDED = 100
const MAX_TEXTS = 60
/** Each may be looked up on the disk. */
const MAX_WORDS = 10_000
const MAX_WORD_LENGTH = 256

/**
 * Reads what the git hooks of a repository start. It reads words, not a language: hooks are written in any, and a word too
 * many only means that a person is asked.
 */
export class HookReader {
  readonly #uses = new FileMemo<HookUse>()

  /** What the hooks of the repositories around paths start, of the innermost one of the first path first. */
  around(...paths: readonly string[]): HookUse[] {
    return workTreesAround(...paths).map((workTree) => this.of(workTree))
  }

  /** What the hooks of the repository with this work tree start. */
  of(workTree: string): HookUse {
    return this.#uses.get(workTree, (note) => new Reading(workTree, note).read())
  }
}

/** One reading of the hooks of a repository. */
class Reading {
  readonly #workTree: string
  readonly #note: NoteSource
  readonly #readFiles = new Set<string>()
  readonly #scripts = new Set<string>()
  readonly #named = new Set<string>()
  readonly #words = new Set<string>()
  readonly #packageScripts = new Set<string>()
  #textsLeft = MAX_TEXTS
  #wordsLeft = MAX_WORDS
  #scriptsOfPackage: Readonly<Record<string, unknown>> = {}

  constructor(workTree: string, note: NoteSource) {
    this.#workTree = workTree
    this.#note = note
  }

  read(): HookUse {
    const manifest = this.#manifest()
    for (const folder of this.#hookFolders()) {
      for (const name of this.#list(folder)) {
        if (name.endsWith('.sample')) continue
        const path = join(folder, name)
        const real = realPath(path)
        if (real !== path) this.#close(real)
        this.#readFile(path)
      }
    }
    for (const name of this.#list(this.#workTree)) {
      if (isHookConfig(name.toLowerCase())) this.#readFile(join(this.#workTree, name))
    }
    for (const key of HOOK_KEYS) this.#readText(textsIn(manifest[key]).join('\n'), this.#workTree)
    for (const name of STARTING_SETTINGS) {
      const text = this.#text(join(this.#workTree, name))
      if (text !== undefined) this.#readText(startedBy(name, text), this.#workTree)
    }
    if (this.#words.has('make')) this.#nameIncluded()
    this.#nameInstalled()
    return {
      scripts: [...this.#scripts],
      named: this.#named,
      words: this.#words,
      packageScripts: this.#packageScripts,
    }
  }

  #manifest(): Readonly<Record<string, unknown>> {
    const manifest = parseManifest(this.#text(join(this.#workTree, 'package.json')) ?? '')
    if (isPlainObject(manifest.scripts)) this.#scriptsOfPackage = manifest.scripts
    return manifest
  }

  #hookFolders(): string[] {
    const folders = HOOK_FOLDERS.map((name) => join(this.#workTree, name))
    const own = readOwnSettings(join(this.#workTree, '.git'), this.#note)
    return own ? [...new Set([...hookFoldersOf(own), ...folders])] : folders
  }

  /** Programs in node_modules whose name is one of the words, with the files to which their links lead. */
  #nameInstalled(): void {
    if (this.#words.size === 0) return
    const folder = join(this.#workTree, 'node_modules/.bin')
    for (const name of this.#list(folder)) {
      if (this.#words.has(name.toLowerCase())) this.#named.add(realPath(join(folder, name)))
    }
  }

  /** Files that a makefile includes; they may have any name. */
  #nameIncluded(): void {
    for (const name of MAKEFILES) {
      const text = this.#text(join(this.#workTree, name)) ?? ''
      for (const [, files] of text.matchAll(INCLUDE))
        for (const word of files!.split(/\s+/).slice(0, MAX_INCLUDED))
          for (const path of word === '' ? [] : this.#pathsOf(word, this.#workTree)) this.#named.add(path)
    }
  }

  #list(folder: string): string[] {
    this.#note(folder)
    try {
      return readdirSync(folder)
    } catch {
      // The folder does not exist or cannot be read: then git runs nothing in it either.
      return []
    }
  }

  #readFile(path: string): void {
    const text = this.#text(path)
    if (text !== undefined) this.#readText(text, dirname(path))
  }

  #text(path: string): string | undefined {
    if (this.#readFiles.has(path) || this.#textsLeft-- <= 0) return undefined
    this.#readFiles.add(path)
    this.#note(path)
    return readBounded(path)
  }

  #readText(text: string, folder: string): void {
    const plain = text.replace(/^[ \t]*(?:#|\/\/).*$/gm, '')
    for (const word of new Set(plain.split(/[^\w@./+-]+/))) this.#readWord(word, folder)
    for (const statement of new Set(plain.split(/[\n;&|(){}`]/))) this.#readStatement(statement, folder)
    for (const [, name] of plain.matchAll(PACKAGE_SCRIPT)) this.#readPackageScript(name!)
  }

  #readWord(word: string, folder: string): void {
    if (word.length > MAX_WORD_LENGTH || this.#wordsLeft-- <= 0) return
    const [, , name] = /^(@[\w.-]+\/)?(?:.*\/)?([\w.+-]+?)(?:@[\w.-]*)?$/.exec(word) ?? []
    if (name === undefined || word.startsWith('-')) return
    this.#words.add(name.toLowerCase())
    if (!/[./]/.test(word)) return
    for (const path of this.#pathsOf(word, folder)) if (statsIfThere(path)?.isFile()) this.#named.add(path)
  }

  /** `./check.sh`, `node scripts/check.js`, `. "$dir/check.sh"`, `"$dir"/check.sh`, also as the value of a key. */
  #readStatement(statement: string, folder: string): void {
    const line = statement
      .trim()
      .replace(/^(?:-\s+)?["']?[\w.-]+["']?(?:\s*:|\s=)\s+/, '')
      .replaceAll(/(\$\w+)["']\//g, '$1/')
    const words = line.split(/[\s"',]+/).filter((word) => word !== '' && !word.startsWith('-'))
    const start = words.findIndex(
      (word) => !/^(?:if|then|else|elif|while|until|do|!|exec|command|time|sudo|\w+=.*)$/.test(word),
    )
    if (this.#wordsLeft-- <= 0) return
    const [program, operand] = words.slice(Math.max(start, 0))
    if (program === undefined) return
    const script = INTERPRETERS.test(basename(program)) ? operand : program
    if (script === undefined || !(script.includes('/') || script !== program)) return
    for (const path of this.#pathsOf(script, folder)) {
      const isThere = statsIfThere(path)?.isFile() === true
      if (!isThere && (script.includes('$') || script.startsWith('/'))) continue
      this.#close(path)
    }
  }

  #close(path: string): void {
    if (!this.#isOwn(path) || this.#scripts.has(path)) return
    if (statsIfThere(path)?.isDirectory()) return
    this.#scripts.add(path)
    this.#readFile(path)
  }

  #readPackageScript(name: string): void {
    if (this.#packageScripts.has(name) || !Object.hasOwn(this.#scriptsOfPackage, name)) return
    for (const each of [`pre${name}`, name, `post${name}`]) {
      this.#packageScripts.add(each)
      const text = Object.hasOwn(this.#scriptsOfPackage, each) ? this.#scriptsOfPackage[each] : undefined
      if (typeof text === 'string' && this.#textsLeft-- > 0) this.#readText(text, this.#workTree)
    }
  }

  /** Where a word may lead in the repository; a variable in front is left out. */
  #pathsOf(word: string, folder: string): string[] {
    const plain = word.replace(/^\$[^/]*\/|^\/+/, '')
    const bases = folder === this.#workTree ? [folder] : [this.#workTree, folder]
    return [...new Set(bases.map((base) => resolve(base, plain)))].filter((path) => this.#isOwn(path))
  }

  /** In the work tree, and neither installed nor git's own. */
  #isOwn(path: string): boolean {
    if (path === this.#workTree || !isWithin(this.#workTree, path)) return false
    return !/\/(?:node_modules|\.git)(?:\/|$)/.test(path.slice(this.#workTree.length))
  }
}

/** The content of a package.json; empty if it has none that a program could read. */
export function parseManifest(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return isPlainObject(value) ? value : {}
  } catch {
    // No program reads settings from it either.
    return {}
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** What the text of such a file starts, one command line each; the file as it is if it is not plain JSON. */
function startedBy(path: string, text: string): string {
  // Other tasks run when somebody starts them.
  if (path.endsWith('tasks.json') && !text.includes('folderOpen')) return ''
  if (!path.endsWith('.json')) return text
  // A task can name a script of package.json.
  const scripts = [...text.matchAll(/"script"\s*:\s*"([\w:.-]+)"/g)].map(([, name]) => `npm run ${name}`)
  try {
    return [...scripts, ...linesIn(JSON.parse(text))].join('\n')
  } catch {
    // With comments: each value on a line of its own.
    return [...scripts, text.replaceAll(/[,{}[\]]/g, '\n')].join('\n')
  }
}

function linesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(linesIn)
  if (!isPlainObject(value)) return []
  // What an agent may run if it wants to is its owner's choice.
  const { permissions: _, command, args, ...others } = value
  const words = [command, args].flat().filter((word) => typeof word === 'string')
  return [...(words.length > 0 ? [words.join(' ')] : []), ...Object.values(others).flatMap(linesIn)]
}
