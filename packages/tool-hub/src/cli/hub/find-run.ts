import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { didYouMean } from '@tool-hub/core'
import { listRuns } from '@tool-hub/runtime/records/log'
import { UsageError } from '../exit.ts'
import { readCliConfig } from './config.ts'

const MAX_SHOWN = 5

/** The folder of the run records, as the config says. */
export async function runsFolder(flags: { readonly config?: string }): Promise<string> {
  const { options, file } = await readCliConfig(flags)
  if (options.runs !== false) return resolve(options.runs ?? 'runs')
  throw new UsageError('This config keeps no records.', `Set runs to a folder in ${file ?? 'tool-hub.yaml'}.`)
}

/** The folder of a run by its id or the beginning of it; the latest run when nothing is asked for. */
export async function findRun(root: string, wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return latest(root)
  const ids = idsIn(root)
  if (ids.includes(wanted)) return join(root, wanted)
  const matching = ids.filter((id) => id.startsWith(wanted))
  if (matching.length === 1) return join(root, matching[0]!)
  if (matching.length > 1) throw ambiguous(wanted, matching)
  throw new UsageError(
    `Run ${JSON.stringify(wanted)} not found in ${root}.`,
    didYouMean(wanted, ids) || 'List them with tool-hub runs.',
  )
}

/** The id of a run by the beginning of it; nothing when nothing is asked for. */
export async function findRunId(flags: {
  readonly config?: string
  readonly run?: string
}): Promise<string | undefined> {
  return flags.run === undefined ? undefined : basename(await findRun(await runsFolder(flags), flags.run))
}

/** The newest run that is still written to; nothing when there is none. */
export async function findOpenRun(root: string): Promise<string | undefined> {
  const run = (await listRuns(root)).findLast(({ state }) => state === 'open')
  return run && join(root, run.id)
}

async function latest(root: string): Promise<string> {
  const run = (await listRuns(root)).at(-1)
  if (run) return join(root, run.id)
  throw new UsageError(`There are no runs in ${root}.`, 'Call a tool first: tool-hub call core/util.time.now.')
}

function ambiguous(wanted: string, matching: readonly string[]): UsageError {
  const shown = matching.toSorted().slice(-MAX_SHOWN)
  const more = matching.length - shown.length
  return new UsageError(
    `${wanted} matches ${matching.length} runs: ${more > 0 ? '…, ' : ''}${shown.join(', ')}.`,
    'Give more of the id.',
  )
}

function idsIn(root: string): string[] {
  try {
    return readdirSync(root)
  } catch {
    // No folder, no runs: the caller says so.
    return []
  }
}
