import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { VERSION } from '@tool-hub/core/lib'
import type { OwnModule } from '@tool-hub/sandbox/system'
import { UsageError } from '../exit.ts'

/** The file of this program, and the flags that Node needs for it. */
export interface OwnMain {
  readonly file: string
  readonly flags: OwnModule['flags']
}

interface LauncherOptions {
  /** The folders that tools or commands may write to: what lies in them must never be what an agent program starts. */
  readonly folders: readonly string[]
  readonly home?: string
  /** Makes no copy and returns where it would be. */
  readonly dryRun?: boolean
}

/**
 * The program and the first words that start this installation, by absolute paths: no folder, PATH or npm setting of a
 * project decides what runs. From the cache of npx, which npm may empty, a copy in the user's own folder is started.
 */
export function ownLauncher(
  { file, flags }: OwnMain,
  { folders, home = homedir(), dryRun = false }: LauncherOptions,
): readonly [command: string, ...words: string[]] {
  const writable = folders.map(realFolder)
  const main = realpathSync(file)
  const packages = packagesAround(main)
  assertNotIn(main, writable)
  assertNotIn(process.execPath, writable)
  // Node searches these folders for packages that are not installed next to this one.
  for (const above of ancestors(main)) assertNotIn(join(above, 'node_modules'), writable)
  if (packages === undefined) return [process.execPath, ...flags, main]
  const project = dirname(packages)
  if (!isNpxCache(packages)) {
    if (isProject(project)) throw inProject(main, project)
    return [process.execPath, ...flags, main]
  }
  const copy = join(home, '.tool-hub', 'versions', VERSION, 'node_modules')
  assertNotIn(copy, writable)
  if (!dryRun) copyPackages(packages, copy)
  return [process.execPath, ...flags, join(copy, main.slice(packages.length + 1))]
}

/** The outermost `node_modules` that a file lies in. */
function packagesAround(file: string): string | undefined {
  const words = file.split(sep)
  const at = words.indexOf('node_modules')
  return at === -1 ? undefined : words.slice(0, at + 1).join(sep)
}

/** `~/.npm/_npx/<hash>/node_modules`: all packages of one `npx`, and nothing else. */
function isNpxCache(packages: string): boolean {
  return basename(dirname(dirname(packages))) === '_npx'
}

/** Global installations of pnpm, yarn and bun have a package.json, too, in a folder of this name. */
function isProject(folder: string): boolean {
  return existsSync(join(folder, 'package.json')) && !/[/\\]global(?:[/\\]v?\d+)?$/.test(folder)
}

function ancestors(file: string): string[] {
  const above = dirname(file)
  return above === file ? [file] : [above, ...ancestors(above)]
}

/** Whole or not at all; a version that is there stays, because agents may be running it. */
function copyPackages(from: string, to: string): void {
  if (existsSync(to)) return
  const versions = dirname(dirname(to))
  mkdirSync(versions, { recursive: true, mode: 0o700 })
  const temporary = mkdtempSync(join(versions, '.new-'))
  try {
    cpSync(from, join(temporary, 'node_modules'), { recursive: true, verbatimSymlinks: true })
    renameSync(temporary, dirname(to))
  } catch (cause) {
    rmSync(temporary, { recursive: true, force: true })
    // Another process was faster.
    if (existsSync(to)) return
    throw cause
  }
}

function realFolder(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder
}

function assertNotIn(path: string, folders: readonly string[]): void {
  const folder = folders.find((each) => isBelow(path, each))
  if (folder === undefined) return
  throw new UsageError(
    `${path} lies in ${folder}, where tools can change files: what they write would be started as tool-hub.`,
    'Install tool-hub outside of it (npm install -g tool-hub) and run: tool-hub mcp install. Or choose a smaller --root.',
  )
}

function inProject(main: string, project: string): UsageError {
  return new UsageError(
    `${main} belongs to the project ${project}: who can change files there could change what is started as tool-hub.`,
    'Install it for yourself (npm install -g tool-hub) and run: tool-hub mcp install.',
  )
}

/** Whether a path is the folder or something in it, by their spelling: both are real paths. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way.split(sep, 1)[0] !== '..'
}
