import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ended, started } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { FIRST_PREV, linkLine } from './event-line.ts'
import { RunRecords } from './run-records.ts'
import { type VerifyOptions, verifyRun } from './verify-run.ts'

const TIME = '2026-01-01T00:00:00.000Z'
let root: string
let folder: string
beforeEach(() => {
  root = temporaryFolder('verify-run')
  folder = join(root, 'r')
})

const path = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(path(name), 'utf8')
const change = (name: string, from: string | RegExp, to: string) =>
  writeFileSync(path(name), read(name).replace(from, to))
const found = async (options?: VerifyOptions) => {
  const { problems, remarks } = await verifyRun(folder, options)
  return [...problems, ...remarks].map(({ line, seq, problem }) => `${line} ${seq} ${problem}`)
}

/** A closed run: 1 opened, 2 and 3 a call, 4 and 5 one that failed, 6 and 7 one that was interrupted, 8 closed. */
async function makeRun(): Promise<void> {
  const records = RunRecords.open(root, 'r', { durability: 'effects', clock: systemClock })
  records.append(started('a'))
  records.append(ended('a'))
  records.append(started('b'))
  records.append(ended('b', { status: 'error', error: { code: 'INTERNAL', message: 'm', details: { a: 1 } } }))
  records.append(started('c'))
  await records.close()
}

describe('what proves the end of a run', () => {
  const opening = (heads: boolean) =>
    RunRecords.open(root, 'r', {
      durability: 'effects',
      clock: systemClock,
      ...(heads && { heads: { put: () => {} } }),
    })

  it('is the store, where it keeps heads', async () => {
    await opening(true).close()
    const state = async (last: number) => {
      const report = await verifyRun(folder, { lastInStore: async () => last })
      return [report.ok, report.state, ...report.remarks.map(({ problem }) => problem)]
    }
    expect(await state(2)).toEqual([true, 'intact'])
    expect(await state(0)).toEqual([
      false,
      'unproven',
      'the store has no head of this run, but the run was closed by event 2',
    ])
    expect(await state(1)).toEqual([
      false,
      'unproven',
      'the store knows this run up to event 1 only, but the run was closed by event 2',
    ])
    await opening(false).close()
    expect(await state(2)).toEqual([
      true,
      'intact',
      'written by a hub without a store: only head.json and later runs prove its end',
    ])
  })

  it('is head.json for a run from before heads were kept', async () => {
    await makeRun()
    change('events.jsonl', /.*\n/, linkLine({ seq: 0, hash: FIRST_PREV }, TIME, '{"type":"run-opened","run":"r"}').line)
    const { remarks } = await verifyRun(folder, { lastInStore: async () => 8 })
    expect(remarks).toEqual([
      { line: 0, seq: 8, problem: 'recorded before heads were kept: only head.json proves its end' },
    ])
  })

  it('is missing when the process was killed before it wrote head.json', async () => {
    await makeRun()
    rmSync(path('head.json'))
    expect(await found()).toEqual(['0 8 head.json is missing, but the run was closed'])
    writeFileSync(path('lock'), '')
    expect(await verifyRun(folder)).toMatchObject({
      ok: false,
      state: 'unproven',
      problems: [],
      remarks: [{ problem: expect.stringMatching(/^the process was killed after the run was closed/) }],
    })
  })

  it('is not needed for a folder without any event, unless something is known of it', async () => {
    await makeRun()
    for (const name of readdirSync(folder)) rmSync(path(name), { recursive: true })
    const state = async (options?: VerifyOptions) => (await verifyRun(folder, options)).state
    expect(await state({ known: [], lastInStore: async () => 0 })).toBe('intact')
    expect(await state({ lastInStore: async () => 1 })).toBe('broken')
    expect(await state({ known: [{ seq: 1, hash: 'a', source: 'x' }] })).toBe('broken')
  })
})
