import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, newRun, runsFolder, started } from '../../test/support/record-run.ts'
import { systemClock } from '../clock.ts'
import { sha256 } from '../hash.ts'
import { FIRST_PREV, linkLine } from './chain.ts'
import { RunRecords } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A closed run of 3 calls: 8 lines. */
async function makeRun(): Promise<RunRecords> {
  const records = RunRecords.open(root, newRun(), { durability: 'effects', clock: systemClock })
  for (const id of ['a', 'b', 'c']) {
    records.append(started(id))
    records.append(ended(id))
  }
  await records.close()
  return records
}

type Tamper = (lines: string[]) => string[]

async function tampered(tamper: Tamper, remove: string[] = []): Promise<Awaited<ReturnType<typeof verifyRun>>> {
  const { folder } = await makeRun()
  const path = join(folder, 'events.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  await writeFile(
    path,
    tamper(lines)
      .map((line) => `${line}\n`)
      .join(''),
  )
  for (const file of remove) await rm(join(folder, file))
  return verifyRun(folder)
}

const TAMPERS: Array<[string, Tamper, number]> = [
  ['a changed value', (lines) => lines.with(4, lines[4]!.replace('"bytes":10', '"bytes":11')), 5],
  ['a changed time', (lines) => lines.with(2, lines[2]!.replace('"time":"2', '"time":"3')), 3],
  [
    'a changed hash',
    (lines) =>
      lines.with(
        2,
        lines[2]!.replace(/."}$/, (end) => (end[0] === '0' ? `1${end.slice(1)}` : `0${end.slice(1)}`)),
      ),
    3,
  ],
  ['the first line deleted', (lines) => lines.slice(1), 1],
  ['a middle line deleted', (lines) => lines.toSpliced(3, 1), 4],
  ['the last line deleted', (lines) => lines.slice(0, -1), 0],
  ['half of the lines cut off', (lines) => lines.slice(0, 4), 0],
  ['all lines deleted', () => [], 0],
  ['a copy inserted', (lines) => lines.toSpliced(3, 0, lines[2]!), 4],
  ['a foreign line inserted', (lines) => lines.toSpliced(3, 0, '{"hello":"world"}'), 4],
  ['an empty line inserted', (lines) => lines.toSpliced(3, 0, ''), 4],
  ['two lines swapped', (lines) => lines.with(2, lines[3]!).with(3, lines[2]!), 3],
  ['a line sealed again by a forger', (lines) => lines.with(3, forge(lines[3]!)), 5],
]

describe('verifyRun', () => {
  it('finds nothing in a run that nobody touched', async () => {
    const { folder, run } = await makeRun()
    expect(await verifyRun(folder)).toEqual({ ok: true, run, lines: 8, calls: 3, interrupted: 0, problems: [] })
  })

  it.each(TAMPERS)('finds %s', async (_name, tamper, line) => {
    const report = await tampered(tamper)
    expect(report.ok).toBe(false)
    expect(report.problems.map((problem) => problem.line)).toContain(line)
  })

  it.each(TAMPERS.filter(([name]) => name !== 'the last line deleted'))(
    'finds %s without head.json',
    async (_name, tamper) => {
      expect((await tampered(tamper, ['head.json'])).ok).toBe(false)
    },
  )

  it('finds a chain that was made anew from the first line, by head.json', async () => {
    const report = await tampered((lines) => {
      let last = { seq: 0, hash: FIRST_PREV }
      return lines.map((line) => {
        const { seq: _, time, prev: __, hash: ___, ...body } = JSON.parse(line)
        const linked = linkLine(last, time, JSON.stringify({ ...body, caller: 'somebody else' }))
        last = linked
        return linked.line.slice(0, -1)
      })
    })
    expect(report.problems).toMatchObject([{ line: 8, problem: expect.stringContaining('head.json') }])
  })

  it('accepts a run that crashed or goes on, also with half a line at its end', async () => {
    const { folder } = await makeRun()
    await rm(join(folder, 'head.json'))
    await appendFile(join(folder, 'events.jsonl'), '{"seq":9,"time":"20')
    expect(await verifyRun(folder)).toMatchObject({ ok: true, lines: 8 })
    const open = RunRecords.open(root, newRun(), { durability: 'effects', clock: systemClock })
    open.append(started('x'))
    open.written()
    expect(await verifyRun(open.folder)).toMatchObject({ ok: true, lines: 2 })
    await open.close()
  })

  it('finds a broken head.json and missing events', async () => {
    const { folder } = await makeRun()
    await writeFile(join(folder, 'head.json'), '{}')
    expect(await verifyRun(folder)).toMatchObject({
      ok: false,
      problems: [{ problem: expect.stringContaining('head.json') }],
    })
    await rm(join(folder, 'events.jsonl'))
    expect((await verifyRun(folder)).problems.map(({ problem }) => problem)).toContain('events.jsonl is missing')
  })

  it('still shows lines that were removed before the run was opened again', async () => {
    const { folder, run } = await makeRun()
    const path = join(folder, 'events.jsonl')
    const lines = (await readFile(path, 'utf8')).split('\n')
    await writeFile(path, `${lines.slice(0, 5).join('\n')}\n`)
    await RunRecords.open(root, run, { durability: 'effects', clock: systemClock }).close()
    expect(await verifyRun(folder)).toMatchObject({ ok: false })
  })

  it('still shows a last line that was changed before the run was opened again', async () => {
    const { folder, run } = await makeRun()
    const path = join(folder, 'events.jsonl')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"type":"run-closed","calls":3', '"type":"run-closed","calls":2'))
    await RunRecords.open(root, run, { durability: 'effects', clock: systemClock }).close()
    expect((await verifyRun(folder)).problems).toMatchObject([{ line: 8, problem: expect.stringContaining('changed') }])
  })
})

/** Changes a line and gives it the hash that fits its new content. */
function forge(line: string): string {
  const text = line.slice(0, -75).replace('"caller":"test"', '"caller":"else"')
  return `${text},"hash":"${sha256(text)}"}`
}
