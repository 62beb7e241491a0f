import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FeatureDefinition, type HubOptions, optionsOfFeature } from '@tool-hub/core'
import { codeFiles, nodeModulesOf, ownPackageFolder, realIfThere, statsIfThere } from '@tool-hub/sandbox/system'

/**
 * Returns the paths of all code and configuration that the hub itself loads. Tools and commands must not change them, or the
 * next start would run their code outside the sandbox. Paths that do not exist are included, so that nobody creates them.
 */
export function protectedCode(options: HubOptions, features: readonly FeatureDefinition[]): string[] {
  const { sandbox = {}, mcpServers = {} } = options
  const programs = [
    ...Object.values(mcpServers).flatMap((server) =>
      'command' in server ? [{ argv: [server.command, ...(server.args ?? [])], cwd: server.cwd }] : [],
    ),
    ...features.flatMap(({ name, programs }) => programs?.(optionsOfFeature(options, name)) ?? []),
  ]
  return [
    ...new Set([
      ...(sandbox.protect ?? []).map((path) => resolve(path)),
      ...packagePlaces(),
      ...programs.flatMap(programPlaces),
    ]),
  ]
}

/** Returns the folder of the running package, and every folder from which it or Node would load a module. */
function packagePlaces(): string[] {
  const root = fileURLToPath(ownPackageFolder())
  const folders = [root, realpathSync(root)].map((folder) => folder.replace(/\/$/, ''))
  const started = [process.execPath, process.argv[1] ?? '', ...optionFiles()].filter(isAbsolute)
  return [...folders.flatMap(placesOf), ...started.flatMap((file) => [file, realIfThere(file)])]
}

/** For a source checkout, which tools may work on, returns only what runs. */
function placesOf(folder: string): string[] {
  const isInstalled = /\/node_modules\//.test(folder)
  const own = isInstalled ? [folder] : ['dist', 'package.json', 'node_modules'].map((name) => join(folder, name))
  return [...own, ...nodeModulesOf(folder)]
}

/** Returns the files that options of Node preload. */
function optionFiles(): string[] {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  return words
    .map((word) => word.replace(/^--[\w-]+=/, '').replace(/^file:\/\//, ''))
    .filter((word) => /^\.{0,2}\//.test(word))
    .map((word) => resolve(word))
}

/** Returns the paths of a program that the owner configured: the program, files among its arguments, and their imports. */
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

/** Returns the files that an argument can refer to: a shell runs a script text, and Node resolves incomplete module names. */
function namedBy(program: string, word: string, before = ''): string[] {
  if (SHELL.test(program) && /^-\w*c$/.test(before)) return word.split(/[\s;|&"'`$()<>]+/).filter(Boolean)
  const path = word.replace(/^--[\w-]+=/, '')
  return NODE.test(program) ? [path, ...NODE_ENDINGS.map((ending) => path + ending)] : [path]
}

const NODE_ENDINGS = ['.js', '.cjs', '.mjs', '.ts', '.json', '/package.json', '/index.js', '/index.mjs', '/index.ts']

/** Returns the paths of `-m name`, which Python looks up in the working folder first. */
function pythonModule(folder: string, words: readonly string[]): string[] {
  const name = words[words.indexOf('-m') + 1]
  if (!words.includes('-m') || !/^\w/.test(name ?? '')) return []
  const top = join(folder, name!.split('.')[0]!)
  return [top, ...codeFiles(`${top}.py`)]
}

const PACKAGE_RUNNER = /(^|\/)(npx|npm|pnpm|pnpx|yarn|bunx|bun)$/

/** Returns the paths of a local package, which package runners such as npx prefer. */
function localPackage(folder: string, word: string): string[] {
  const name = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@.*)?$/.exec(word)?.[1]
  if (name === undefined || name.startsWith('-')) return []
  const bare = name.replace(/^.*\//, '')
  return nodeModulesOf(folder).flatMap((modules) => [join(modules, name), join(modules, '.bin', bare)])
}

/** Returns the paths at which a program is looked up, up to the first that exists. */
function inPath(program: string): string[] {
  const candidates = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
  const at = candidates.findIndex((folder) => statsIfThere(join(folder, program)))
  return candidates.slice(0, at === -1 ? undefined : at + 1).map((folder) => join(folder, program))
}
