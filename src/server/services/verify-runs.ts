import { type HeadStore, messageOf } from '../../core/index.ts'
import { runsBelow } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { AuditReport } from '../../protocol/index.ts'
import { type AuditFinding, type FirstLines, FolderCheck, type VerifyReport } from '../../records/log/index.ts'
import { SharedTurns } from './shared-turns.ts'

const MAX_RUNS = 1_000
const AT_ONCE = 4
/** Of the whole process, because the disk that it reads is. */
const TURNS = new SharedTurns('A check of records')

/** One check after another, as the console makes them, reads the first line of every run once. */
const FIRST_LINES: FirstLines = new Map()

/**
 * Checks the records of these runs, or of the 1,000 that were written to last; without the name of a run, also looks for
 * runs that are gone. One check at a time.
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

/** A record that cannot be read is no proof of anything: it counts as broken, and the others are checked all the same. */
async function verify(check: FolderCheck, run: string): Promise<AuditReport['runs'][number]> {
  try {
    return toEntry(await check.verify(run))
  } catch (error) {
    const problems = [{ message: escapeLine(messageOf(error)) }]
    return { run, ok: false, state: 'broken', lines: 0, calls: 0, interrupted: 0, problems, remarks: [] }
  }
}

function toEntry({ run, problems, remarks, ...rest }: VerifyReport) {
  return { run: escapeLine(run), ...rest, problems: problems.map(told), remarks: remarks.map(told) }
}

function told({ problem, seq }: AuditFinding): { message: string; seq: number } {
  return { message: escapeLine(problem), seq }
}
