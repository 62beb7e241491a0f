import { ApiError } from '@tool-hub/client'
import { api } from '../../api/session.ts'
import type { AuditReport } from '../../api/types.ts'
import { createValue } from '../../lib/watched-value.ts'
import { keepCheck } from './last-check.ts'

/** What a check found in the record of one run. */
export type AuditedRun = AuditReport['runs'][number]

/** The progress of a check of the records. */
export interface Verification {
  readonly state: 'idle' | 'running' | 'done' | 'stopped' | 'failed'
  readonly total: number
  readonly runs: readonly AuditedRun[]
  readonly finishedAt?: number
  readonly error?: Error
}

const CONCURRENCY = 4
const UPDATE_EVERY_MS = 150
const IDLE: Verification = { state: 'idle', total: 0, runs: [] }

/** The check of this page. It continues while other views are shown. */
export const verification = createValue<Verification>(IDLE)

let current = 0

/** Checks the record of one run, or of all known runs, newest first. Results appear while it is running. */
export async function startVerification(only?: string): Promise<void> {
  current += 1
  const mine = current
  const runs: AuditedRun[] = []
  let total = 0
  let updatedAt = 0
  const update = (change: Partial<Verification> = {}) => {
    if (mine === current) verification.set({ state: 'running', total, runs: [...runs], ...change })
  }
  update()
  try {
    const names = only === undefined ? await listRuns(() => mine !== current) : [only]
    total = names.length
    const work = async () => {
      for (let name = names.shift(); name !== undefined && mine === current; name = names.shift()) {
        runs.push(...(await verifyOne(name)))
        if (performance.now() - updatedAt < UPDATE_EVERY_MS) continue
        updatedAt = performance.now()
        update()
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    if (only === undefined && mine === current) {
      const checked = new Set(runs.map(({ run }) => run))
      const gone = (await api.audit.verify({ only: 'missing' })).runs.filter(({ run }) => !checked.has(run))
      total += gone.length
      runs.push(...gone)
    }
    if (only === undefined && mine === current) keepCheck({ runs }, Date.now())
    update({ state: 'done', finishedAt: Date.now() })
  } catch (error) {
    update({ state: 'failed', error: error as Error })
    if (mine === current) current += 1
  }
}

/** Stops the check; the results so far stay. */
export function stopVerification(): void {
  current += 1
  verification.set({ ...verification.get(), state: 'stopped', finishedAt: Date.now() })
}

async function listRuns(isOver: () => boolean): Promise<string[]> {
  const names: string[] = []
  let before: number | undefined
  do {
    const { runs, next } = await api.runs.list({ limit: 500, ...(before !== undefined && { before }) })
    names.push(...runs.map(({ run }) => run))
    before = next
  } while (before !== undefined && !isOver())
  return names
}

/** An indexed run whose record does not exist counts as damaged; any other failure ends the check. */
async function verifyOne(run: string): Promise<AuditReport['runs']> {
  try {
    return (await api.audit.verify({ run })).runs
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error
    return [
      {
        run,
        ok: false,
        state: 'broken',
        lines: 0,
        calls: 0,
        interrupted: 0,
        problems: [{ message: error.message }],
        remarks: [],
      },
    ]
  }
}
