import { readFileSync, writeFileSync } from 'node:fs'
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
  root = temporaryFolder('chain-check')
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

/** Writes the events of a run as a forger could: a chain that is whole. */
function forge(bodies: ReadonlyArray<object>): void {
  let last = { seq: 0, hash: FIRST_PREV }
  const lines = bodies.map((body) => {
    const linked = linkLine(last, TIME, JSON.stringify(body))
    last = linked
    return linked.line
  })
  writeFileSync(path('events.jsonl'), lines.join(''))
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

describe('what is found in events', () => {
  beforeEach(makeRun)

  it('is nothing in a run as it was written', async () => {
    expect(await verifyRun(folder)).toMatchObject({ state: 'intact', lines: 8, calls: 3, interrupted: 1, remarks: [] })
  })

  it('names lines that were moved, and says where', async () => {
    const lines = read('events.jsonl').split('\n').slice(0, -1)
    const put = (order: number[]) =>
      writeFileSync(path('events.jsonl'), order.map((seq) => `${lines[seq - 1]}\n`).join(''))
    put([1, 2, 4, 3, 5, 6, 7, 8])
    expect((await found()).slice(0, 3)).toEqual([
      '3 4 line 3 is event 4, but 3 should come here: lines were removed or moved',
      '4 3 line 4 is event 3, but 5 should come here: lines were inserted or moved',
      '5 5 line 5 is event 5, but 4 should come here: lines were removed or moved',
    ])
    put([2])
    expect((await found())[1]).toBe('1 2 line 1 does not open the run, as a first line does')
    writeFileSync(path('events.jsonl'), `noise\n${lines.join('\n')}\n`)
    expect((await found()).slice(0, 1)).toEqual(['1 1 line 1 is not a line of ours'])
  })

  it('names lines that do not follow the one before', async () => {
    const lines = read('events.jsonl').split('\n').slice(0, -1)
    const other = linkLine({ seq: 2, hash: 'a'.repeat(64) }, TIME, JSON.stringify(ended('a')))
    writeFileSync(path('events.jsonl'), `${lines.with(2, other.line.slice(0, -1)).join('\n')}\n`)
    expect(await found()).toContain('3 3 line 3 does not follow the line before it')
  })

  it.each([
    ['another line', /"hash":"."?/, '"hash":"x', '8 8 line 8 is not the line that head.json names'],
    ['other bytes', /"bytes":\d+/, '"bytes":1', /^8 8 line 8 ends at byte \d+, but head\.json says 1$/],
    ['another number of calls', '"calls":3', '"calls":4', '8 8 line 8 ends 3 calls, but head.json says 4'],
    ['another run', '"run":"r"', `"run":"${'x'.repeat(70)}"`, `0 8 head.json is of the run ${'x'.repeat(64)}`],
    ['more events', '"seq":8', '"seq":9', '0 8 lines were removed at the end: events up to 9 had been written'],
    ['fewer events', '"seq":8', '"seq":7', '0 8 head.json ends with event 7, but the run was closed by event 8'],
  ])('names a head of %s', async (_name, from, to, expected) => {
    change('head.json', from, to)
    const matching = typeof expected === 'string' ? expected : expect.stringMatching(expected)
    expect(await found()).toContainEqual(matching)
  })

  it('names a head of a line that does not close the run', async () => {
    const [, , third] = read('events.jsonl').split('\n')
    const { hash } = JSON.parse(third!)
    change('head.json', /"seq":8,"hash":"\w+"/, `"seq":3,"hash":"${hash}"`)
    expect(await found()).toContain('3 3 line 3 does not close the run, but head.json says so')
  })

  it('names lines that others know otherwise, and those that others know and are not there', async () => {
    const known = [
      { seq: 3, hash: 'a'.repeat(64), source: 'the store' },
      { seq: 3, hash: 'b'.repeat(64), source: 'run x' },
      { seq: 8, hash: JSON.parse(read('events.jsonl').split('\n')[7]!).hash, source: 'run y' },
      { seq: 9, hash: 'a'.repeat(64), source: 'run z' },
    ]
    expect(await found({ known })).toEqual([
      '3 3 line 3 is not the line that the store names as event 3',
      '3 3 line 3 is not the line that run x names as event 3',
      '0 8 lines were removed at the end: run z names event 9',
    ])
  })

  it('tells that nothing can be read of the folder', async () => {
    await expect(verifyRun(path('head.json'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'Run head.json cannot be verified: the folder cannot be used (ENOTDIR).',
      details: { path: path('head.json') },
    })
  })
})

describe('what is found in a chain that was forged', () => {
  beforeEach(makeRun)
  const opened = { type: 'run-opened', run: 'r', after: null }

  it.each<[string, object, string | undefined]>([
    ['another run', { ...opened, run: 'y'.repeat(70) }, `is of the run ${'y'.repeat(64)}, not of r`],
    ['no run', { type: 'run-opened' }, 'is of the run without a name, not of r'],
    ['a call without a name', { type: 'call-started', tool: 't' }, 'is not an event as we write it'],
    ['a call of no tool', { type: 'call-ended', callId: 'a', tool: 1 }, 'is not an event as we write it'],
    [
      'a call whose name is not a text',
      { type: 'call-interrupted', callId: {}, tool: 't' },
      'is not an event as we write it',
    ],
    ['nothing of an event that is not the start or end of a call', { type: 'call-late', callId: 'a' }, undefined],
    ['lost events', { type: 'records-lost', events: 3 }, 'tells of events that could not be kept'],
  ])('names %s', async (_name, body, problem) => {
    forge([opened, body])
    const problems = (await found()).filter((text) => text.startsWith('2 2 '))
    expect(problems).toEqual(problem === undefined ? [] : [`2 2 line 2 ${problem}`])
  })

  it('names artifacts that are none, once for each time', async () => {
    const end = ended('a', { artifacts: ['x'.repeat(80), 7 as never] })
    forge([opened, end, { ...end, cached: true }, { ...end, artifacts: 'none' }])
    expect((await found()).filter((text) => text.includes('artifact'))).toEqual([
      `2 2 line 2 names ${'x'.repeat(73)}, which is not an artifact`,
      '2 2 line 2 names 7, which is not an artifact',
    ])
  })

  it('stops behind 100,000 calls without an end', { timeout: 120_000 }, async () => {
    const start = (callId: number) => ({ type: 'call-started', callId: `c${callId}`, tool: 't' })
    forge([opened, ...Array.from({ length: 100_001 }, (_, index) => start(index))])
    expect((await found()).filter((text) => text.includes('others have no end'))).toEqual([
      '100002 100002 line 100002 starts a call while 100000 others have no end; the logs are not compared further',
    ])
  })
})
