import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HubOptions } from '../core/index.ts'
import { codeFiles, nodeModulesOf, ownFile, realIfThere, statsIfThere } from '../system/index.ts'

/**
 * What the hub itself runs or obeys, wherever it lies: tools and commands must not change it, or the next start would
 * run code of theirs outside of any sandbox. Some of it does not exist, so that nobody can put something there.
 */
export function protectedCode({ sandbox = {}, mcpServers = {}, sessions }: HubOptions): string[] {
  const programs = [
    ...Object.values(mcpServers).flatMap((server) =>
      'command' in server ? [{ argv: [server.command, ...(server.args ?? [])], cwd: server.cwd }] : [],
    ),
    ...Object.values(sessions?.runners ?? {}).flatMap((runner) =>
      runner.type === 'command' ? [{ argv: runner.argv, cwd: runner.cwd }] : [],
    ),
  ]
  return [
    ...new Set([
      ...(sandbox.protect ?? []).map((path) => resolve(path)),
      ...packagePlaces(),
      ...programs.flatMap(programPlaces),
    ]),
  ]
}

/** Of the package that runs: its folder, and every folder from which it or Node would take a module. */
function packagePlaces(): string[] {
  const root = fileURLToPath(ownFile('..'))
  const folders = [root, realpathSync(root)].map((folder) => folder.replace(/\/$/, ''))
  const started = [process.execPath, process.argv[1] ?? '', ...optionFiles()].filter(isAbsolute)
  return [...folders.flatMap(placesOf), ...started.flatMap((file) => [file, realIfThere(file)])]
}

/** Of a checkout, which is a project to work on, only what runs. */
function placesOf(folder: string): string[] {
  const isInstalled = /\/node_modules\//.test(folder)
  const own = isInstalled ? [folder] : ['dist', 'package.json', 'node_modules'].map((name) => join(folder, name))
  return [...own, ...nodeModulesOf(folder)]
}

/** Files that Node was told to load first. */
function optionFiles(): string[] {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  return words
    .map((word) => word.replace(/^--[\w-]+=/, '').replace(/^file:\/\//, ''))
    .filter((word) => /^\.{0,2}\//.test(word))
    .map((word) => resolve(word))
}

/** A program that the owner named: the program, the files among its arguments, and all that these import. */
function programPlaces({ argv, cwd = process.cwd() }: { argv: readonly string[]; cwd?: string }): string[] {
  const [program = '', ...words] = argv
  const folder = resolve(cwd)
  const files = words
    .flatMap((word, index) => namedBy(program, word, words[index - 1]))
    .map((name) => resolve(folder, name))
    .filter((path) => statsIfThere(path)?.isFile() || statsIfThere(path)?.isSymbolicLink())
  return [
    ...(program.includes('/') ? codeFiles(resolve(folder, program)) : inPath(program)),
    ...(PYTHON.test(program) ? pythonModule(folder, words) : []),
    ...files.flatMap(codeFiles),
    ...(PACKAGE_RUNNER.test(program) ? words.flatMap((word) => localPackage(folder, word)) : []),
  ]
}

const SHELL = /(^|\/)(ba|da|z|k)?sh$/
const NODE = /(^|\/)(node|bun|deno|tsx|ts-node)$/
const PYTHON = /(^|\/)(python[\d.]*|uv)$/

/** The files that a word of a command line can mean: a shell reads a text, and Node finds a module by less than its name. */
function namedBy(program: string, word: string, before = ''): string[] {
  if (SHELL.test(program) && /^-\w*c$/.test(before)) return word.split(/[\s;|&"'`$()<>]+/).filter(Boolean)
  const path = word.replace(/^--[\w-]+=/, '')
  return NODE.test(program) ? [path, ...NODE_ENDINGS.map((ending) => path + ending)] : [path]
}

const NODE_ENDINGS = ['.js', '.cjs', '.mjs', '.ts', '.json', '/package.json', '/index.js', '/index.mjs', '/index.ts']

/** `-m name` is looked for in the working folder before anywhere else. */
function pythonModule(folder: string, words: readonly string[]): string[] {
  const name = words[words.indexOf('-m') + 1]
  if (!words.includes('-m') || !/^\w/.test(name ?? '')) return []
  const top = join(folder, name!.split('.')[0]!)
  return [top, ...codeFiles(`${top}.py`)]
}

const PACKAGE_RUNNER = /(^|\/)(npx|npm|pnpm|pnpx|yarn|bunx|bun)$/

/** A runner of packages takes one from the project, where there is one, before any other. */
function localPackage(folder: string, word: string): string[] {
  const name = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@.*)?$/.exec(word)?.[1]
  if (name === undefined || name.startsWith('-')) return []
  const bare = name.replace(/^.*\//, '')
  return nodeModulesOf(folder).flatMap((modules) => [join(modules, name), join(modules, '.bin', bare)])
}

/** Where a program is looked for, up to where it is. */
function inPath(program: string): string[] {
  const candidates = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
  const at = candidates.findIndex((folder) => statsIfThere(join(folder, program)))
  return candidates.slice(0, at === -1 ? undefined : at + 1).map((folder) => join(folder, program))
}
