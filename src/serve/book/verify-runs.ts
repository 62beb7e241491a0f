import { join } from 'node:path'
import { messageOf } from '../../errors.ts'
import { runsBelow } from '../../hub/run-index/runs-below.ts'
import type { Finding } from '../../record/findings.ts'
import { type VerifyReport, verifyRun } from '../../record/verify-run.ts'
import { escapeLine } from '../../value/escape-text.ts'
import type { AuditReport } from '../api/service.ts'
import { SharedTurns } from './shared-turns.ts'

const MOST_RUNS = 1_000
const AT_ONCE = 4
/** Of the whole process, because the disk that it reads is. */
const TURNS = new SharedTurns('A check of records')

/** Checks the records of these runs, or of the 1,000 that were written to last; one check at a time. */
export function verifyRuns(folder: string, runs?: readonly string[]): Promise<AuditReport> {
  return TURNS.share(JSON.stringify([folder, runs]), () => verifyAll(folder, runs))
}

async function verifyAll(folder: string, runs: readonly string[] | undefined): Promise<AuditReport> {
  const wanted = runs ?? (await runsBelow(folder)).slice(0, MOST_RUNS).map(({ run }) => run)
  const reports: AuditReport['runs'] = new Array(wanted.length)
  let next = 0
  const work = async () => {
    for (let index = next++; index < wanted.length; index = next++)
      reports[index] = await verify(folder, wanted[index]!)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted.length) }, work))
  return { ok: reports.every(({ ok }) => ok), runs: reports }
}

/** A record that cannot be read is no proof of anything: it counts as broken, and the others are checked all the same. */
async function verify(folder: string, run: string): Promise<AuditReport['runs'][number]> {
  try {
    return toEntry(await verifyRun(join(folder, run)))
  } catch (error) {
    const problems = [{ message: escapeLine(messageOf(error)) }]
    return { run, ok: false, lines: 0, calls: 0, interrupted: 0, problems, remarks: [] }
  }
}

function toEntry({ run, ok, lines, calls, interrupted, problems, remarks }: VerifyReport) {
  return { run, ok, lines, calls, interrupted, problems: problems.map(told), remarks: remarks.map(told) }
}

function told({ problem, seq }: Finding): { message: string; seq: number } {
  return { message: escapeLine(problem), seq }
}
