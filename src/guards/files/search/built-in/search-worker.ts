import { parentPort, workerData } from 'node:worker_threads'
import { fileAccess } from '../../access/choose-access.ts'
import type { FileAccess, SharedFolder } from '../../access/file-access.ts'
import { pathAccess } from '../../access/path-access.ts'
import type { FileMatches } from '../engine.ts'
import type { FileChoice, SearchJob } from '../search-job.ts'
import { createFinder, type Finder } from './line-finder.ts'
import { readSearchable } from './read-searchable.ts'
import { searchText } from './search-text.ts'
import { type WalkedFile, walkFiles } from './walk-files.ts'

/** What the worker is started for; without a pattern it only names the files. */
export interface WorkerTask {
  readonly descriptor: number
  /** What the thread that opened the folder knows of it. */
  readonly shared?: SharedFolder
  readonly file?: string
  readonly rulesAbove: string
  readonly job: SearchJob | FileChoice
}

/** What the worker says. */
export type WorkerMessage =
  | { readonly type: 'file'; readonly found: FileMatches }
  | { readonly type: 'unreadable' }
  | { readonly type: 'invalid'; readonly reason: string }
  | { readonly type: 'done' }

// A pattern of a model and a file of anybody meet only here: whatever they do, the thread can be ended from outside.
run(workerData as WorkerTask)

function run(task: WorkerTask): void {
  const { job } = task
  if ('pattern' in job) {
    const finder = compile(job)
    const access = accessOf(task)
    if (finder) for (const file of filesOf(task)) look(access, file, finder, job)
  } else {
    for (const { path } of filesOf(task)) say({ type: 'file', found: { file: path, matches: 0, lines: [] } })
  }
  say({ type: 'done' })
}

function accessOf({ descriptor, shared }: WorkerTask): FileAccess {
  if (!shared) return fileAccess
  pathAccess.adopt(descriptor, shared)
  return pathAccess
}

function filesOf(task: WorkerTask): Iterable<WalkedFile> {
  const { descriptor, file, rulesAbove, job } = task
  if (file !== undefined) return [{ path: file, folder: descriptor, name: file }]
  return walkFiles({ access: accessOf(task), descriptor, rulesAbove }, job, () => say({ type: 'unreadable' }))
}

function compile(job: SearchJob): Finder | undefined {
  try {
    return createFinder(job)
  } catch (error) {
    say({ type: 'invalid', reason: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

function look(access: FileAccess, { path, folder, name }: WalkedFile, finder: Finder, job: SearchJob): void {
  let text: string | undefined
  try {
    text = readSearchable(access, folder, name)
  } catch {
    say({ type: 'unreadable' })
    return
  }
  const found = text === undefined ? undefined : searchText(text, finder, job)
  if (found) say({ type: 'file', found: { file: path, ...found } })
}

function say(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}
