import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ended, started } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { RunRecords } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
let folder: string
beforeEach(() => {
  root = temporaryFolder('log-check')
  folder = join(root, 'r')
})

const path = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(path(name), 'utf8')
const change = (name: string, from: string | RegExp, to: string) =>
  writeFileSync(path(name), read(name).replace(from, to))
const found = async () => {
  const { problems, remarks } = await verifyRun(folder)
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

/** The same as a crash leaves it behind: 7 lines. */
async function crashRun(): Promise<void> {
  await makeRun()
  rmSync(path('head.json'))
  change('events.jsonl', /.*\n$/, '')
}

describe('what is found in logs', () => {
  it('names a line that is missing, one that is changed, and those of no event', async () => {
    await makeRun()
    const lines = read('logs/tools.jsonl').split('\n').slice(0, -1)
    const put = (...kept: string[]) => writeFileSync(path('logs/tools.jsonl'), kept.map((line) => `${line}\n`).join(''))
    put(lines[0]!, lines[2]!)
    expect(await found()).toEqual(['0 5 logs/tools.jsonl lacks the line of event 5'])
    put(lines[0]!, `${lines[1]} `, lines[2]!)
    expect(await found()).toEqual(['0 5 logs/tools.jsonl line 2 is not what event 5 gives'])
    put('noise', '{"seq":1,"a":1}', ...lines, lines[2]!, 'noise')
    expect(await found()).toEqual([
      '0 3 logs/tools.jsonl line 1 is of no event',
      '0 1 logs/tools.jsonl line 2 is of no event',
      '0 7 logs/tools.jsonl line 6 is of no event',
      '0 8 logs/tools.jsonl line 7 is of no event',
    ])
    put(...lines, '{"seq":9,"a":1}', 'noise')
    expect(await found()).toEqual([
      '0 8 logs/tools.jsonl continues to event 9: lines were removed at the end of events.jsonl',
    ])
    put(...lines.slice(0, 2))
    expect(await found()).toEqual(['0 7 logs/tools.jsonl lacks the line of event 7 and all that follow'])
  })

  it('lets a log lag behind a crash, with half of the next line', async () => {
    await crashRun()
    const lines = read('logs/tools.jsonl').split('\n')
    writeFileSync(path('logs/tools.jsonl'), `${lines[0]}\n${lines[1]!.slice(0, 9)}`)
    const notClosed = '0 7 the run was not closed: a crash leaves it so, and so does who removes its end'
    expect(await found()).toEqual(['0 7 logs/tools.jsonl ends in half a line, as a crash leaves it', notClosed])
    appendFileSync(path('logs/tools.jsonl'), 'x')
    expect(await found()).toEqual(['0 7 logs/tools.jsonl ends in half a line that no event gives'])
    writeFileSync(path('logs/tools.jsonl'), `${lines[0]}\n`)
    expect(await found()).toEqual([notClosed])
  })

  it('looks in a broken run only for events that are gone', async () => {
    await makeRun()
    change('events.jsonl', '"caller":"test"', '"caller":"else"')
    expect(await found()).toEqual(['2 2 line 2 was changed'])
    appendFileSync(path('logs/errors.jsonl'), 'noise\n{"seq":8,"a":1}\n{"seq":9,"a":1}\n{"seq":10,"a":1}\n')
    expect(await found()).toEqual([
      '2 2 line 2 was changed',
      '0 8 logs/errors.jsonl continues to event 9: lines were removed at the end of events.jsonl',
    ])
  })
})
