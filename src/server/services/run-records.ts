import { type Clock, type HeadStore, messageOf, type Store, ToolError } from '../../core/index.ts'
import { type Hub, pruneRun, runsBelow } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { AuditReport } from '../../protocol/index.ts'
import { type AuditFinding, type FirstLines, FolderCheck, type VerifyReport } from '../../records/log/index.ts'
import { describeRun } from './call-entries.ts'
import { SharedTurns } from './shared-turns.ts'

const MAX_RUNS = 1_000
const AT_ONCE = 4
/** One queue for the process, because all checks read the same disk. */
const TURNS = new SharedTurns('A check of records')

/** Cached between checks, so that the first line of every run is read once. */
const FIRST_LINES: FirstLines = new Map()

/**
 * Verifies the records of these runs, or of the 1,000 latest; without runs it also looks for missing ones. One check at
 * a time.
 */
export function verifyRuns(folder: string, heads: HeadStore, runs?: readonly string[]): Promise<AuditReport> {
  return TURNS.share(JSON.stringify([folder, runs]), () => verifyAll(folder, heads, runs))
}

async function verifyAll(folder: string, heads: HeadStore, runs: readonly string[] | undefined): Promise<AuditReport> {
  const check = await FolderCheck.open(folder, heads, FIRST_LINES)
  const wanted = runs ?? (await runsBelow(folder)).slice(0, MAX_RUNS).map(({ run }) => run)
  const reports: AuditReport['runs'] = new Array(wanted.length)
  let next = 0
  const work = async () => {
    for (let index = next++; index < wanted.length; index = next++) reports[index] = await verify(check, wanted[index]!)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted.length) }, work))
  if (!runs?.length) reports.push(...check.missing().slice(0, MAX_RUNS).map(toEntry))
  return { ok: reports.every(({ ok }) => ok), runs: reports }
}

/** A record that cannot be read counts as broken; the others are still checked. */
async function verify(check: FolderCheck, run: string): Promise<AuditReport['runs'][number]> {
  try {
    return toEntry(await check.verify(run))
  } catch (error) {
    const problems = [{ message: escapeLine(messageOf(error)) }]
    return { run, ok: false, state: 'broken', lines: 0, calls: 0, interrupted: 0, problems, remarks: [] }
  }
}

function toEntry({ run, problems, remarks, ...rest }: VerifyReport) {
  return { run: escapeLine(run), ...rest, problems: problems.map(toFinding), remarks: remarks.map(toFinding) }
}

function toFinding({ problem, seq }: AuditFinding): { message: string; seq: number } {
  return { message: escapeLine(problem), seq }
}

/** Options of `removeEndedRun`. */
interface RemoveEndedRunOptions {
  readonly hub: Pick<Hub, 'run' | 'endRun' | 'recordChange'>
  readonly store: Store
  readonly runsFolder: string
  readonly clock: Clock
  readonly by: string
}

const MAX_WAITING = 1_000

/** Removes a run that has ended, as retention does: the removal is recorded, so that it can be proven. */
export async function removeEndedRun(run: string, options: RemoveEndedRunOptions): Promise<void> {
  const { hub, store, runsFolder, clock, by } = options
  const [busy, hint] = (await whatRuns(run, options)) ?? []
  if (busy !== undefined) throw new ToolError('CONFLICT', `Run ${run} was not removed. ${busy}`, { hint: hint! })
  const kept = await pruneRun(run, {
    runsFolder,
    store,
    by,
    now: clock.now(),
    record: (change) => hub.recordChange(change),
    end: (id) => hub.endRun(id),
  })
  if (kept === undefined) return
  throw new ToolError('CONFLICT', `Run ${run} was not removed. ${kept}`, {
    hint: 'A run that another process has open, or whose record does not verify, is kept.',
  })
}

async function whatRuns(
  run: string,
  { hub, store }: RemoveEndedRunOptions,
): Promise<readonly [problem: string, hint: string] | undefined> {
  if (run === hub.run) return ['The service records its own changes in it.', 'It ends with the service.']
  const [call] = await store.calls.calls({ run, status: 'running', limit: 1 })
  if (call) return [`${call.tool} is running in it.`, 'Wait until the call ends.']
  const waiting = await store.approvals.list({ state: 'waiting', limit: MAX_WAITING })
  if (waiting.some((ask) => ask.run === run)) return ['A call of it waits for a person.', 'Answer that first.']
  return (await describeRun(run, store))?.busy
}
