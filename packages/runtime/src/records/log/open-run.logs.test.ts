import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ended, eventsOf, jsonLines, standingClock, started } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { RunRecords } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
let folder: string
beforeEach(() => {
  root = temporaryFolder('recover')
  folder = join(root, 'r')
})

const { clock, pass } = standingClock()
const open = () => RunRecords.open(root, 'r', { durability: 'effects', clock })
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const head = () => JSON.parse(read('head.json'))
const bytesOf = (name: string) => statSync(join(folder, name)).size

/** A closed run: one call that worked, one that failed, one that never ended. */
async function closeRun(): Promise<void> {
  const records = open()
  records.append(ended('good'))
  records.append(started('bad'))
  records.append(ended('bad', { status: 'error' }))
  records.append(started('lost'))
  await records.close()
}

/** Opens the run again and leaves it as a crash does, with a call that was not ended. */
async function crash(): Promise<void> {
  const records = open()
  records.append(started('later'))
  records.append(ended('later', { status: 'denied' }))
  records.append(started('open'))
  await records.synced()
  pass(100)
  const copy = join(root, 'copy')
  const lastHead = readFileSync(join(root, 'last-head.json'))
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('/lock') })
  await records.close()
  rmSync(folder, { recursive: true })
  cpSync(copy, folder, { recursive: true })
  writeFileSync(join(root, 'last-head.json'), lastHead)
}

describe('a run that is opened again', () => {
  it('makes its logs anew from all events of calls', async () => {
    await closeRun()
    const [tools, errors] = [read('logs/tools.jsonl'), read('logs/errors.jsonl')]
    for (const removed of [['head.json', 'logs'], ['logs'], ['logs/tools.jsonl'], ['logs/errors.jsonl']]) {
      for (const name of removed) rmSync(join(folder, name), { recursive: true, force: true })
      await open().close()
      expect([read('logs/tools.jsonl'), read('logs/errors.jsonl')]).toEqual([tools, errors])
      expect(head()).toMatchObject({ calls: 3, failures: 2 })
    }
    expect((await jsonLines(join(folder, 'logs/tools.jsonl'))).map(({ callId }) => callId)).toEqual([
      'good',
      'bad',
      'lost',
    ])
    expect(await verifyRun(folder)).toMatchObject({ ok: true, calls: 3, interrupted: 1 })
  })

  it('makes no line of a log from an event that was changed', async () => {
    await closeRun()
    for (const name of ['head.json', 'logs']) rmSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'events.jsonl'), read('events.jsonl').replace('"callId":"good"', '"callId":"evil"'))
    await open().close()
    expect((await jsonLines(join(folder, 'logs/tools.jsonl'))).map(({ callId }) => callId)).toEqual(['bad', 'lost'])
  })

  it('counts on behind its head, and keeps when it began', async () => {
    await closeRun()
    const { started: began } = head()
    pass(5_000)
    await crash()
    pass(5_000)
    await open().close()
    expect(head()).toMatchObject({ calls: 5, failures: 4, started: began, bytes: bytesOf('events.jsonl') })
    expect(head().ended > began).toBe(true)
    expect(head()).toMatchObject({
      toolsBytes: bytesOf('logs/tools.jsonl'),
      errorsBytes: bytesOf('logs/errors.jsonl'),
    })
    expect(await verifyRun(folder)).toMatchObject({ ok: true, calls: 5, interrupted: 2 })
    rmSync(join(folder, 'head.json'))
    await open().close()
    expect(head()).toMatchObject({ calls: 5, failures: 4, started: began })
  })

  it.each(['logs/tools.jsonl', 'logs/errors.jsonl'])('cuts what follows the last event in %s', async (name) => {
    await closeRun()
    const whole = read(name)
    appendFileSync(join(folder, name), '{"seq":')
    await open().close()
    expect(read(name)).toBe(whole)
  })

  it('counts exactly the events that are gone, by its head or by its logs', async () => {
    const lost = async () =>
      (await eventsOf(folder)).flatMap((event) => (event.type === 'records-lost' ? [event.events] : []))
    await closeRun()
    const lines = read('events.jsonl').split('\n')
    expect(lines).toHaveLength(8)
    writeFileSync(join(folder, 'events.jsonl'), `${lines.slice(0, 3).join('\n')}\n`)
    await open().close()
    expect(await lost()).toEqual([4])
    await open().close()
    expect(await lost()).toEqual([4])
    rmSync(folder, { recursive: true })
    await closeRun()
    for (const name of [join(folder, 'head.json'), join(root, 'last-head.json')]) rmSync(name)
    writeFileSync(join(folder, 'events.jsonl'), `${lines.slice(0, 3).join('\n')}\n`)
    await open().close()
    // The end of the call that was lost is event 6, and the log knows it.
    expect(await lost()).toEqual([3])
    expect((await jsonLines(join(folder, 'logs/tools.jsonl'))).map(({ seq }) => seq)).toEqual([2, 6])
  })

  it('sets a torn line of any length aside, in a file for its owner alone', async () => {
    await closeRun()
    const { seq, bytes } = head()
    const torn = `{"x":"${'0123456789'.repeat(20_000)}`
    appendFileSync(join(folder, 'events.jsonl'), torn)
    await open().close()
    const [name] = readdirSync(join(folder, 'archive'))
    expect(name).toMatch(new RegExp(`^torn-${seq + 1}-[0-9a-f]{8}\\.txt$`))
    expect(read(`archive/${name}`) === torn).toBe(true)
    expect(statSync(join(folder, 'archive', name!)).mode & 0o777).toBe(0o600)
    expect((await eventsOf(folder)).filter(({ type }) => type === 'line-torn')).toMatchObject([
      { seq: seq + 2, bytes: torn.length, file: `archive/${name}` },
    ])
    expect(bytesOf('events.jsonl')).toBeGreaterThan(bytes)
    expect(await verifyRun(folder)).toMatchObject({ ok: true })
  })

  it('does not believe a head whose line is not where it says', async () => {
    await closeRun()
    const calls = { calls: 7, failures: 7 }
    writeFileSync(join(folder, 'head.json'), JSON.stringify({ ...head(), ...calls, hash: 'a'.repeat(64) }))
    await open().close()
    expect(head()).toMatchObject({ calls: 3, failures: 2 })
    writeFileSync(join(folder, 'head.json'), JSON.stringify({ ...head(), ...calls }))
    await open().close()
    expect(head()).toMatchObject(calls)
    truncateSync(join(folder, 'events.jsonl'), 0)
    await open().close()
    expect(head()).toMatchObject({ calls: 0, failures: 0 })
  })
})
