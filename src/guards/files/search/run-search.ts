import type { FindOptions, FindResult, SearchOptions, SearchResult } from '../../../contracts/handles.ts'
import { lazyModule } from '../../../disk/lazy-module.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Engine, Place } from './engine.ts'
import { FoundFiles, type FoundLimits, judgeFiles, linesOf } from './found-files.ts'
import { openPlace, readRulesAbove } from './open-place.ts'
import { ripgrepPath } from './search-engine.ts'
import { type FileChoice, toFileChoice, toSearchJob, within } from './search-job.ts'

const loadRgProcess = lazyModule(() => import('./ripgrep/rg-process.ts'))
const loadRipgrepEngine = lazyModule(() => import('./ripgrep/ripgrep-engine.ts'))
const loadBuiltInEngine = lazyModule(() => import('./built-in/built-in-engine.ts'))
const loadIgnoreRules = lazyModule(() => import('./ignore-rules.ts'))

/** Which engine to use; for tests, and for those who know better. */
export interface SearchSettings {
  readonly engine?: Engine['name']
  readonly rgPath?: string
}

/** A search that ended. */
interface Outcome {
  readonly found: FoundFiles
  readonly engine: Engine['name']
}

/** Looks into files below a path. */
export async function runSearch(
  door: FilesDoor,
  call: FilesCall,
  path: string,
  options: SearchOptions,
  settings: SearchSettings = {},
): Promise<SearchResult> {
  const job = await toSearchJob(options)
  const isLines = job.output === 'lines'
  const { maxFiles, contextLines } = job
  const limits = { maxFiles, contextLines, maxMatches: isLines ? job.maxMatches : undefined }
  const { found, engine } = await runOn(door, call, path, { choice: job, limits, settings }, (engine, place, sink) =>
    engine.search(place, job, sink, call.signal()),
  )
  const files = found.sorted()
  return {
    lines: isLines ? linesOf(files) : [],
    files: files.map(({ file, matches }) => ({ file, matches })),
    isComplete: found.isComplete,
    skipped: found.skipped,
    engine,
  }
}

/** Finds files below a path by their names. */
export async function runFind(
  door: FilesDoor,
  call: FilesCall,
  path: string,
  options: FindOptions,
  settings: SearchSettings = {},
): Promise<FindResult> {
  const choice = toFileChoice({ ...options, globs: [options.pattern] })
  const limits = { maxFiles: within(options.limit, 1000, 1, 100_000) }
  const { found } = await runOn(door, call, path, { choice, limits, settings }, (engine, place, sink) =>
    engine.find(place, choice, sink, call.signal()),
  )
  const files = found.sorted().map(({ file }) => file)
  return { files, isComplete: found.isComplete && found.skipped === 0 }
}

/** Opens the place, and runs the work on the best engine there is; the other one starts anew when that fails. */
async function runOn(
  door: FilesDoor,
  call: FilesCall,
  path: string,
  { choice, limits, settings }: { choice: FileChoice; limits: FoundLimits; settings: SearchSettings },
  work: (engine: Engine, place: Place, sink: FoundFiles) => Promise<void>,
): Promise<Outcome> {
  const opened = openPlace(door.roots, path)
  try {
    door.pass(opened.target, 'read', call)
    const isWhole = opened.file === undefined
    const place: Place = { ...opened, rulesAbove: isWhole ? await readRulesAbove(opened.folder) : '' }
    const isWanted = isWhole ? await globTest(choice.globRules) : undefined
    const run = async (engine: Engine): Promise<Outcome> => {
      const found = new FoundFiles(judgeFiles(door, call, opened.folder), limits, isWanted)
      await work(engine, place, found)
      throwIfAborted(call.signal())
      return { found, engine: engine.name }
    }
    return await withBestEngine(door, settings, run)
  } finally {
    opened.close()
  }
}

async function withBestEngine(
  door: FilesDoor,
  { engine, rgPath }: SearchSettings,
  run: (engine: Engine) => Promise<Outcome>,
): Promise<Outcome> {
  const path = engine === 'built-in' ? undefined : (rgPath ?? (await ripgrepPath()))
  if (path !== undefined) {
    const { RipgrepMissing } = await loadRgProcess()
    const { ripgrepEngine } = await loadRipgrepEngine()
    try {
      return await run(ripgrepEngine(door.roots, path))
    } catch (error) {
      if (!(error instanceof RipgrepMissing)) throw error
    }
  }
  const { builtInEngine } = await loadBuiltInEngine()
  return run(builtInEngine())
}

/**
 * A .gitignore line like `!keep.log` keeps a file whatever weaker rules say, and the globs are weaker rules:
 * so every file of the answer is held against them once more.
 */
async function globTest(globRules: string): Promise<((file: string) => boolean) | undefined> {
  if (globRules === '') return undefined
  const { compileIgnoreRules } = await loadIgnoreRules()
  const rules = compileIgnoreRules(globRules)
  return (file) => rules(file, false) !== 'ignore'
}
