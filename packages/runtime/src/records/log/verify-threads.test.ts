import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { FIRST_PREV, linkLine } from './event-line.ts'
import { FolderCheck } from './verify-folder.ts'
import type { VerifyReport } from './verify-run.ts'
import { VerifyThreads } from './verify-threads.ts'

/** Enough for two threads. */
const RUNS = 210
const TIME = '2026-01-01T00:00:00.000Z'

let root: string
const runs = Array.from({ length: RUNS }, (_, index) => `run-${String(index).padStart(3, '0')}`)
beforeAll(() => {
  root = temporaryFolder('verify-threads')
  for (const run of runs) makeRun(run)
  appendFileSync(join(root, runs[7]!, 'events.jsonl'), 'not a line\n')
  rmSync(join(root, runs[8]!, 'head.json'))
})

/** A closed run without calls. */
function makeRun(run: string): void {
  const folder = join(root, run)
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const opened = { type: 'run-opened', run, pid: 1, durability: 'effects', after: null, heads: 'store' }
  const first = linkLine({ seq: 0, hash: FIRST_PREV }, TIME, JSON.stringify(opened))
  const last = linkLine(first, TIME, JSON.stringify({ type: 'run-closed', calls: 0, failures: 0 }))
  const bytes = first.line.length + last.line.length
  writeFileSync(join(folder, 'events.jsonl'), first.line + last.line)
  const head = { run, seq: 2, hash: last.hash, bytes, toolsBytes: 0, errorsBytes: 0, calls: 0, failures: 0 }
  writeFileSync(join(folder, 'head.json'), JSON.stringify({ ...head, started: TIME, ended: TIME }))
}

async function reportsOf(check: FolderCheck, wanted: readonly string[]): Promise<VerifyReport[]> {
  const reports: VerifyReport[] = []
  for await (const report of check.verifyAll(wanted)) reports.push(report)
  return reports
}

/** A store that knows the end of every run but one. */
function heads(asked: string[] = []) {
  return {
    list({ run }: { readonly run?: string } = {}) {
      if (run === undefined) return []
      asked.push(run)
      return run === runs[9] ? [] : [{ run, opening: 'o', seq: 2, hash: 'h', at: 1 }]
    },
  }
}

describe('the verification of many runs', () => {
  it('reports in threads what it reports for each of them, in their order', async () => {
    const asked: string[] = []
    const check = await FolderCheck.open(root, heads(asked))
    const wanted = [...runs, 'missing']
    const reports = await reportsOf(check, wanted)
    expect(reports.map(({ run }) => run)).toEqual(wanted)
    // Each run whose end is in its folder is looked up in the store, wherever it is verified.
    expect(new Set(asked).size).toBeGreaterThanOrEqual(RUNS - 2)
    const each: VerifyReport[] = []
    for (const run of wanted) each.push(await check.verify(run))
    expect(reports).toEqual(each)
    expect(reports.filter(({ ok }) => !ok).map(({ run, state }) => `${run} ${state}`)).toEqual([
      'run-007 broken',
      'run-008 broken',
      'run-009 unproven',
      'missing broken',
    ])
  })

  it('throws the error of a store that cannot be read', async () => {
    const list = ({ run }: { readonly run?: string } = {}) => {
      if (run === runs[20]) throw new Error('The disk is gone.')
      return []
    }
    const check = await FolderCheck.open(root, { list })
    await expect(reportsOf(check, runs)).rejects.toThrow('Run run-020 cannot be verified')
  })

  it('ends its threads when nobody reads further', async () => {
    const check = await FolderCheck.open(root, undefined)
    for await (const { run } of check.verifyAll(runs)) {
      expect(run).toBe(runs[0])
      break
    }
  })

  it('leaves the runs of threads that end to this one', async () => {
    const threads = new VerifyThreads({ root, runs, known: () => [], lastInStore: () => new Promise(() => {}) })
    const first = threads.report(0)
    await threads.close()
    expect([await first, await threads.report(RUNS - 1)]).toEqual([undefined, undefined])
  })

  it('starts no thread for a few runs', () => {
    const threads = new VerifyThreads({ root, runs: runs.slice(0, 150), known: () => [] })
    expect(threads.report(0)).toBeUndefined()
  })
})
