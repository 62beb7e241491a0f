import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TestDisk } from '../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../core/src/context.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { RunRecords } from '../records/log/run-records.ts'
import { KeptTaint } from './run-taint.ts'

const folder = temporaryFolder('run-taint')

class FailingDisk extends TestDisk {
  failWrites = false

  override write(fd: number, bytes: Buffer, offset: number): number {
    if (this.failWrites) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    return super.write(fd, bytes, offset)
  }
}

const nothing = defineTool({
  name: 'test.nothing',
  description: 'Does nothing.',
  input: z.strictObject({}),
  execute: () => 'done',
})

function newHub(root = mkdtempSync(join(folder, 'hub-'))) {
  const runs = join(root, 'runs')
  const hub = createToolHub({ tools: [nothing], runs, data: join(root, 'data') })
  const call = async (who: string) => (await hub.as({ name: who }).callDynamic('test.nothing', {}, { run: 'named' })).ok
  return { hub, root, call, run: join(runs, 'named') }
}

/** Opens the same run in another process, as it were. */
async function callsAfterRestart({ hub, root }: ReturnType<typeof newHub>) {
  await hub.close()
  const again = newHub(root)
  const calls = { bob: await again.call('bob'), ada: await again.call('ada') }
  await again.hub.close()
  return calls
}

describe('the owner of a run', () => {
  it('is known to a later process by the record, and by no other file', async () => {
    const first = newHub()
    expect(await first.call('ada')).toBe(true)
    expect(readdirSync(first.run)).not.toContain('principal')
    expect(await callsAfterRestart(first)).toEqual({ bob: false, ada: true })
  })

  it('is known although a process ended before the first call', async () => {
    const first = newHub()
    RunRecords.open(join(first.root, 'runs'), 'named', {
      durability: 'behind',
      clock: systemClock,
      principal: 'ada',
    }).release()
    expect(readFileSync(join(first.run, 'events.jsonl'), 'utf8')).toContain('"principal":"ada"')
    expect(await first.call('bob')).toBe(false)
    await first.hub.close()
  })

  it.each([
    ['is there', 'ada', { bob: false, ada: true }],
    ['is empty, as a loss of power may leave it', '', { bob: true, ada: false }],
  ])('is taken over from the mark of an older version that %s', async (_, mark, calls) => {
    const first = newHub()
    // An older version has the owner in no line before the first call.
    await RunRecords.open(join(first.root, 'runs'), 'named', { durability: 'behind', clock: systemClock }).close()
    writeFileSync(join(first.run, 'principal'), mark)
    const head = JSON.parse(readFileSync(join(first.run, 'head.json'), 'utf8'))
    writeFileSync(join(first.run, 'head.json'), JSON.stringify({ ...head, taint: undefined }))
    expect(await callsAfterRestart(first)).toEqual(calls)
    expect(readdirSync(first.run)).not.toContain('principal')
    expect(await callsAfterRestart(first)).toEqual(calls)
  })

  it('is still the hub itself when its own run has no mark', async () => {
    const first = newHub()
    expect((await first.hub.call(nothing, {}, { run: 'named' })).ok).toBe(true)
    expect(await callsAfterRestart(first)).toEqual({ bob: false, ada: false })
  })

  it.each([
    ['nothing in it', () => {}],
    ['an empty record', (run: string) => writeFileSync(join(run, 'events.jsonl'), '')],
    [
      'an empty record and an empty mark',
      (run: string) => {
        writeFileSync(join(run, 'events.jsonl'), '')
        writeFileSync(join(run, 'principal'), '')
      },
    ],
  ])('is the first who comes to a folder with %s, and nobody else afterwards', async (_, fill) => {
    const first = newHub()
    mkdirSync(first.run, { recursive: true, mode: 0o700 })
    fill(first.run)
    expect(await first.call('ada')).toBe(true)
    expect(await first.call('bob')).toBe(false)
    expect(await callsAfterRestart(first)).toEqual({ bob: false, ada: true })
  })
})

describe('the taint of a run', () => {
  const records = (disk?: FailingDisk) => {
    const root = mkdtempSync(join(folder, 'records-'))
    const open = () => RunRecords.open(root, 'r', { durability: 'behind', clock: systemClock, disk })
    return { root, open }
  }

  it('is synced once, and again only after it was cleared', async () => {
    const { open } = records()
    const record = open()
    const taint = new KeptTaint(record, { isNewlyOwned: true })
    const syncing = taint.synced()
    expect(syncing).toBeInstanceOf(Promise)
    taint.set(['a'], { isChanged: true })
    expect(taint.synced()).toBe(syncing)
    await syncing
    expect([taint.isDurable, taint.synced()]).toEqual([true, undefined])
    taint.set(['a'], { isChanged: false })
    taint.set(['a', 'b'], { isChanged: true })
    expect(taint.isDurable).toBe(true)
    await taint.clear({ by: 'ada', reason: 'x', sources: ['a', 'b'] }, () => [])
    expect(record.taint).toEqual({ sources: [], wasCleared: true })
    taint.set(['c'], { isChanged: true })
    expect(taint.isDurable).toBe(false)
    await taint.synced()
    await record.close()
    const again = open()
    expect(again.taint).toEqual({ sources: ['c'], wasCleared: true })
    await again.close()
  })

  it('is in the file before anything else happens, so that a killed process leaves it', async () => {
    const { root, open } = records()
    const record = open()
    new KeptTaint(record, { isNewlyOwned: false }).set(['mcp:mail/get_unread'], { isChanged: true })
    expect(readFileSync(join(root, 'r', 'events.jsonl'), 'utf8')).toContain(
      '"type":"run-tainted","sources":["mcp:mail/get_unread"]',
    )
    await record.close()
  })

  it('that the disk does not take is an error each time, and is tried again', async () => {
    const disk = new FailingDisk()
    const { open } = records(disk)
    const record = open()
    const taint = new KeptTaint(record, { isNewlyOwned: false })
    disk.failWrites = true
    for (let n = 0; n < 2; n++)
      expect(() => taint.set(['a'], { isChanged: n === 0 })).toThrow(
        expect.objectContaining({ code: 'RECORDS_UNAVAILABLE' }),
      )
    await expect(taint.synced()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    disk.failWrites = false
    await taint.synced()
    taint.set(['a'], { isChanged: false })
    await record.close()
    const again = open()
    expect(again.taint.sources).toEqual(['a'])
    await again.close()
  })

  it('stays on record if clearing it cannot be made durable', async () => {
    const disk = new FailingDisk()
    const { open } = records(disk)
    const record = open()
    const taint = new KeptTaint(record, { isNewlyOwned: false })
    taint.set(['a'], { isChanged: true })
    await taint.synced()
    disk.failWrites = true
    const clearing = taint.clear({ by: 'ada', reason: 'x', sources: ['a'] }, () => [])
    expect(() => taint.set(['b'], { isChanged: true })).toThrow('the disk is full')
    await expect(clearing).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    disk.failWrites = false
    await record.close()
    const again = open()
    expect(again.taint.sources).toEqual(['a', 'b'])
    await again.close()
  })

  it('counts as there if a line of the record cannot be read', async () => {
    const { root, open } = records()
    const record = open()
    new KeptTaint(record, { isNewlyOwned: false }).set(['a'], { isChanged: true })
    await record.synced()
    record.release()
    const path = join(root, 'r', 'events.jsonl')
    const [first, second] = readFileSync(path, 'utf8').split('\n')
    const other = mkdtempSync(join(folder, 'broken-'))
    mkdirSync(join(other, 'r'), { mode: 0o700 })
    writeFileSync(join(other, 'r', 'events.jsonl'), `${first}\n${second?.slice(20)}\n`, { mode: 0o600 })
    const broken = RunRecords.open(other, 'r', { durability: 'behind', clock: systemClock })
    expect(broken.taint.sources).toEqual(['an unknown source'])
    await broken.close()
    await record.close()
  })
})
