import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ended, eventsOf, standingClock, started, TestDisk } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { StoredHead } from '../../../../core/src/store.ts'
import { type RecordedLine, RunRecords, type RunRecordsOptions } from './run-records.ts'

let root: string
beforeEach(() => {
  root = temporaryFolder('run-records')
})

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }
const open = (more: Partial<RunRecordsOptions> = {}, run = 'r') => RunRecords.open(root, run, { ...options, ...more })

describe('the line that opens a run', () => {
  it('names the run before it, only where the run is new', async () => {
    await open({}, 'a').close()
    const before = JSON.parse(readFileSync(join(root, 'last-head.json'), 'utf8'))
    expect(before).toMatchObject({ run: 'a', seq: 2 })
    await open({ durability: 'full' }, 'b').close()
    await open({ heads: { put: () => {} } }, 'b').close()
    const openings = (await eventsOf(join(root, 'b'))).filter(({ type }) => type === 'run-opened')
    expect(openings).toMatchObject([
      { run: 'b', pid: process.pid, durability: 'full', after: before },
      { run: 'b', durability: 'effects', heads: 'store' },
    ])
    expect(openings[0]).not.toHaveProperty('heads')
    expect(openings[1]).not.toHaveProperty('after')
    expect((await eventsOf(join(root, 'a')))[0]).toMatchObject({ after: null })
  })

  it('is followed by what the head of the last run knows to be lost', async () => {
    const lost = async () => (await eventsOf(join(root, 'r'))).filter(({ type }) => type === 'records-lost')
    await open().close()
    await open().close()
    rmSync(join(root, 'r/head.json'))
    const lines = readFileSync(join(root, 'r/events.jsonl'), 'utf8').split('\n')
    writeFileSync(join(root, 'r/events.jsonl'), `${lines[0]}\n`)
    await open().close()
    expect(await lost()).toMatchObject([{ seq: 3, events: 3 }])
    // A run that begins anew is not a loss, and neither is what another run knows.
    rmSync(join(root, 'r'), { recursive: true })
    await open().close()
    expect(await lost()).toEqual([])
    await open({}, 'other').close()
    rmSync(join(root, 'r/head.json'))
    writeFileSync(
      join(root, 'r/events.jsonl'),
      readFileSync(join(root, 'r/events.jsonl'), 'utf8').split('\n')[0]!.concat('\n'),
    )
    await open().close()
    expect(await lost()).toEqual([])
  })
})

describe('who listens to a run', () => {
  it('is notified of every line, with its time and the size of the record', async () => {
    const { clock, pass } = standingClock()
    const heard: RecordedLine[] = []
    await open().close()
    const size = statSync(join(root, 'r/events.jsonl')).size
    const records = open({ clock, onAppend: (line) => heard.push(line) })
    pass(1_500)
    records.append(started('é'))
    records.append(ended('é'))
    await records.synced()
    const lines = readFileSync(join(root, 'r/events.jsonl'), 'utf8').split('\n').slice(2, -1)
    let bytes = size
    expect(heard).toEqual(
      lines.map((line) => {
        const { seq, time, hash: _, prev: __, ...event } = JSON.parse(line)
        bytes += Buffer.byteLength(line) + 1
        return { run: 'r', seq, time, event, bytes }
      }),
    )
    expect(heard.map(({ time }) => time)).toEqual([
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:01.500Z',
      '1970-01-01T00:00:01.500Z',
    ])
    await records.close()
  })

  it('hears once of events that are lost, and the record says how many', async () => {
    const problems: string[] = []
    const disk = new TestDisk({ left: 1_000 })
    const records = open({ disk, onProblem: ({ code, message }) => problems.push(`${code} ${message}`) })
    records.append(started('c1'))
    const summary = 'x'.repeat(20_000)
    while (problems.length < 2) {
      records.append(ended('big', { summary }))
      records.written()?.catch(() => {})
    }
    records.append(ended('c1'))
    records.append(started('c2'))
    expect(problems).toEqual([
      expect.stringContaining('RECORDS_UNAVAILABLE events.jsonl cannot be written: the disk is full'),
      'RECORDS_UNAVAILABLE Run r cannot record call-ended: the disk refuses, and the memory for waiting events is full.',
    ])
    disk.fixed = true
    expect(records.problem).toBeUndefined()
    records.append(started('c3'))
    await records.close()
    const events = await eventsOf(records.folder)
    expect(events.slice(-4)).toMatchObject([
      { type: 'records-lost', events: 3 },
      { type: 'call-started', callId: 'c3' },
      { type: 'call-interrupted', callId: 'c3' },
      { type: 'run-closed' },
    ])
    records.append(started('late'))
    records.append(started('later'))
    expect(problems.slice(2)).toEqual(['RECORDS_UNAVAILABLE Run r cannot record call-started: the run is closed.'])
  })

  it('is notified of the head in the store, once the record is durable', async () => {
    const heads: StoredHead[] = []
    const { clock, pass } = standingClock()
    await open().close()
    const disk = new TestDisk()
    const before = JSON.parse(readFileSync(join(root, 'last-head.json'), 'utf8'))
    const kept: unknown[] = []
    const put = (head: StoredHead, continues: unknown) => {
      heads.push(head)
      kept.push(continues)
    }
    const records = open({ clock, disk, heads: { put } })
    pass(2_000)
    await expect.poll(() => heads.length).toBe(1)
    expect(disk.syncs).toBe(1)
    const [, , opened] = await eventsOf(records.folder)
    expect(heads[0]).toEqual({ run: 'r', opening: opened!.hash, seq: 3, hash: opened!.hash, at: 2_000 })
    expect(kept[0]).toMatchObject({ seq: before.seq, hash: before.hash })
    await records.close()
    expect(heads.at(-1)).toMatchObject({ seq: 4, opening: opened!.hash })
  })
})

describe('a run that is released', () => {
  it('continues with the next event, and tells when its record was removed', async () => {
    const records = open()
    expect(records.isGone).toBe(false)
    records.append(started('c1'))
    records.release()
    rmSync(join(records.folder, 'events.jsonl'))
    // A call is open, so its files are.
    expect(records.isGone).toBe(false)
    records.append(ended('c1'))
    records.written()
    records.release()
    expect(records.isGone).toBe(true)
    await expect(records.close()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const other = open({}, 'other')
    other.release()
    other.append(ended('c2'))
    await other.close()
    other.release()
    expect((await eventsOf(other.folder)).map(({ type }) => type)).toEqual(['run-opened', 'call-ended', 'run-closed'])
  })
})

describe('the end of a run', () => {
  it('says what happened in it, and says why it cannot be written', async () => {
    const records = open()
    records.append(ended('a', { status: 'error' }))
    records.append(ended('b'))
    records.append(started('c'))
    const closing = records.close()
    expect(records.close()).toBe(closing)
    await closing
    expect((await eventsOf(records.folder)).slice(-2)).toMatchObject([
      { type: 'call-interrupted', callId: 'c', tool: 'notes.save', status: 'interrupted' },
      { type: 'run-closed', calls: 3, failures: 2 },
    ])
    const other = open({}, 'other')
    rmSync(other.folder, { recursive: true })
    await expect(other.close()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'Run other cannot be made durable: the folder cannot be used (ENOENT).',
    })
  })

  it('is notified of artifacts that are kept for good with full durability', async () => {
    const records = open({ durability: 'full' })
    const { ref } = await records.putArtifact('x', { name: 'n', mediaType: 'm' })
    expect(Buffer.from(await records.readArtifact(ref)).toString()).toBe('x')
    await records.written()
    await records.close()
    expect(records.workspace).toBe(join(records.folder, 'workspace'))
  })
})
