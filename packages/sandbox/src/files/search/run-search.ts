import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import { lazyModule, type SearchOptions, type SearchResult, ToolError, throwIfAborted } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import type { FileTarget, Roots } from '../roots.ts'
import { destination, followLinks, inParent, type LinkTarget, lastLink, openAt, openFolder, statAt } from '../walk.ts'

import { FoundFiles, type FoundLimits, fileCheck, fileTargets, linesOf, type SearchFolder } from './found-files.ts'
import { fileTypes, ripgrepPath } from './rg-process.ts'
import { searchContent } from './ripgrep-engine.ts'
import { type FileChoice, toSearchJob } from './search-job.ts'

const READ = constants.O_RDONLY | constants.O_NONBLOCK

const MAX_RULES_BYTES = 1_000_000

// Loads the expressions of globs, which most searches do not need.
const loadIgnoreRules = lazyModule(() => import('./ignore-rules.ts'))

/** Replaces the ripgrep binary, for tests. */
export interface SearchSettings {
  readonly rgPath?: string
}

/** Searches the content of the files below a path. */
export async function searchTree(
  root: FilesRoot,
  call: FilesCall,
  path: string,
  options: SearchOptions,
  settings: SearchSettings = {},
): Promise<SearchResult> {
  const rgPath = settings.rgPath ?? (await ripgrepPath())
  const job = await toSearchJob(options, () => fileTypes(rgPath))
  const isLines = job.output === 'lines'
  const { maxFiles, contextLines } = job
  const limits = { maxFiles, contextLines, maxMatches: isLines ? job.maxMatches : undefined }
  const found = await collect(root, call, path, { choice: job, limits }, (place, matches) =>
    searchContent({ rgPath, place, matches, signal: call.signal() }, job),
  )
  const files = found.sorted()
  return {
    lines: isLines ? linesOf(files) : [],
    files: files.map(({ file, matches }) => ({ file, matches })),
    isComplete: found.isComplete,
    skipped: found.skipped,
  }
}

/** Opens the folder or file, checks that it may be read, and runs a search in it. */
async function collect(
  root: FilesRoot,
  call: FilesCall,
  path: string,
  { choice, limits }: { choice: FileChoice; limits: FoundLimits },
  run: (place: SearchFolder, matches: FoundFiles) => Promise<void>,
): Promise<FoundFiles> {
  const opened = openPlace(root.roots, path)
  try {
    root.pass(opened.target, 'read', call)
    const isFolder = opened.file === undefined
    const rulesAbove = isFolder ? await readRulesAbove(opened.folder) : ''
    const targetOf = fileTargets(root.roots, opened.folder)
    const isWanted = isFolder ? await globTest(choice.globRules) : undefined
    const found = new FoundFiles(fileCheck(root, call, targetOf), limits, isWanted)
    await run({ ...opened, rulesAbove, targetOf }, found)
    throwIfAborted(call.signal())
    return found
  } finally {
    opened.close()
  }
}

/**
 * A .gitignore line such as `!keep.log` keeps a file whatever weaker rules say, and the globs are weaker rules. So every
 * file of the result is checked against the globs once more.
 */
async function globTest(globRules: string): Promise<((file: string) => boolean) | undefined> {
  if (globRules === '') return undefined
  const { compileIgnoreRules } = await loadIgnoreRules()
  const rules = compileIgnoreRules(globRules)
  return (file) => rules(file, false) !== 'ignore'
}

/** A folder or file below a root, held by a descriptor; `target` is what was opened after following links. */
interface OpenPlace extends Omit<SearchFolder, 'rulesAbove' | 'targetOf'> {
  readonly target: FileTarget
  close(): void
}

/** Opens the folder or file to search; links that stay inside the roots are followed. */
export function openPlace(roots: Roots, path: string): OpenPlace {
  return followLinks(roots, path, (target) => {
    const opened = inParent(target, (parent, name) => hold(target, parent, name))
    if (opened) return opened
    throw new ToolError('NOT_FOUND', `${quotePath(path)} does not exist.`)
  })
}

/** The rules of .gitignore files between the root and the searched folder, rewritten to be relative to that folder. */
export async function readRulesAbove(folder: FileTarget): Promise<string> {
  const texts: string[] = []
  for (let depth = 0; depth < folder.names.length; depth += 1) {
    const target = { ...folder, names: [...folder.names.slice(0, depth), '.gitignore'] }
    const text = inParent(target, readRulesIn)
    if (typeof text !== 'string') continue
    const { rebaseIgnoreRules } = await loadIgnoreRules()
    texts.push(rebaseIgnoreRules(text, folder.names.slice(depth)))
  }
  return texts.join('\n')
}

function hold(target: FileTarget, parent: number, name: string): OpenPlace | LinkTarget | undefined {
  const stats = statAt(parent, name)
  if (!stats) return undefined
  if (stats.isDirectory()) return holdFolder(target, target, parent, name)
  const link = stats.isSymbolicLink() ? lastLink(target, parent, name) : undefined
  if (link) return link
  if (!stats.isFile())
    throw new ToolError('PATH_DENIED', `${quotePath(target.path)} is not a regular file or a folder.`)
  if (target.saysFolder) throw new ToolError('NOT_FOUND', `${quotePath(target.path)} is a file, not a folder.`)
  return holdFolder(target, folderOf(target), parent, '.', name)
}

function holdFolder(target: FileTarget, folder: FileTarget, parent: number, name: string, file?: string) {
  const opened = openFolder(parent, name)
  if (typeof opened === 'number') return place(target, folder, opened, file)
  return opened && destination(target, target.names.length - 1, opened)
}

function place(target: FileTarget, folder: FileTarget, descriptor: number, file?: string): OpenPlace {
  return { target, folder, descriptor, file, close: () => closeSync(descriptor) }
}

function folderOf(target: FileTarget): FileTarget {
  return {
    ...target,
    names: target.names.slice(0, -1),
    path: target.path.slice(0, target.path.lastIndexOf('/')) || '/',
  }
}

/** The text of the .gitignore file in an open folder; undefined if there is none or it is a link, which git does not follow either. */
export function readRulesIn(folder: number): string | undefined {
  try {
    return readStart(openAt(folder, '.gitignore', READ))
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EACCES', 'ENXIO', 'EISDIR'].includes(errnoOf(error))) return undefined
    throw error
  }
}

function readStart(descriptor: number): string {
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, MAX_RULES_BYTES))
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(descriptor)
  }
}
