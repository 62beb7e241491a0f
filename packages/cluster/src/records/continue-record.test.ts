import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { ended, eventsOf, jsonLines, newRun, started } from '../../../../test/support/record-run.ts'
import { type Machine, newMachine, sharedText } from '../../../../test/support/shared-records.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { verifyRun } from '../../../runtime/src/records/log/verify-run.ts'

const store = openStore(temporaryFolder('shared-store'))
afterAll(() => store.close())

let machines = 0
const machine = () => {
  machines++
  return newMachine(store, temporaryFolder(`machine-${machines}`), `k${machines}`)
}
const eventsFile = ({ root }: Machine, run: string) => join(root, run, 'events.jsonl')
const textOf = (one: Machine, run: string) => readFile(eventsFile(one, run), 'utf8')
const archived = async ({ root }: Machine, run: string) => readdir(join(root, run, 'archive'))

/** A run with a call that ended and one that did not, whose process was killed. */
async function killedRun(one: Machine): Promise<string> {
  const run = newRun()
  const records = await one.open(run)
  for (const event of [started('c1'), ended('c1', { status: 'error' }), started('c2')]) records.append(event)
  await records.synced()
  // Its process writes logs in the background, and a process that was killed writes nothing.
  for (const name of ['tools', 'errors'])
    await expect.poll(() => jsonLines(join(one.root, run, `logs/${name}.jsonl`)).catch(() => [])).toHaveLength(1)
  await one.end()
  return run
}

describe('a run whose process was killed', () => {
  it('continues on another machine from the last shared line, with its logs, and names who continues it', async () => {
    const [one, two] = [await machine(), await machine()]
    const run = await killedRun(one)
    const before = await textOf(one, run)
    const records = await two.open(run)
    records.append(ended('c3'))
    await records.ended()
    await records.close()
    const text = await textOf(two, run)
    expect(text.startsWith(before)).toBe(true)
    expect(text).toBe(await sharedText(store, run))
    const events = await eventsOf(join(two.root, run))
    expect(events.slice(4)).toMatchObject([
      { type: 'run-opened', process: two.id, epoch: 2 },
      { type: 'call-interrupted', callId: 'c2' },
      { type: 'call-ended', callId: 'c3' },
      { type: 'run-closed' },
    ])
    const logged = (await jsonLines(join(two.root, run, 'logs/tools.jsonl'))).map(({ callId }) => callId)
    expect(logged).toEqual(['c1', 'c2', 'c3'])
    expect(await jsonLines(join(two.root, run, 'logs/errors.jsonl'))).toHaveLength(2)
    expect(await verifyRun(join(two.root, run))).toMatchObject({ state: 'intact', problems: [] })
  })

  it('comes back to the first machine, whose copy gets what it lacks', async () => {
    const [one, two] = [await machine(), await machine()]
    const run = await killedRun(one)
    await (await two.open(run)).close()
    await store.runStates.release(run, { owner: two.id, epoch: 2 })
    await appendFile(eventsFile(one, run), '{"seq":5,"half a li')
    await rm(join(one.root, run, 'lock'), { force: true })
    const three = await newMachine(store, one.root, `${one.id}-again`)
    await (await three.open(run)).close()
    expect(await textOf(three, run)).toBe(await sharedText(store, run))
    expect(await archived(three, run)).toMatchObject([expect.stringMatching(/^torn-5-/)])
    expect(await verifyRun(join(three.root, run))).toMatchObject({ state: 'intact', problems: [] })
  })

  it('keeps lines that this machine could not share, if nobody else has continued the run', async () => {
    const one = await machine()
    const run = newRun()
    const records = await one.open(run)
    await records.synced()
    one.segments.append = async () => {
      throw new Error('away')
    }
    records.append(ended('c1'))
    await records.close()
    await one.end()
    const again = await newMachine(store, one.root, `${one.id}-again`)
    await (await again.open(run)).close()
    expect(await textOf(again, run)).toBe(await sharedText(store, run))
    expect(await sharedText(store, run)).toContain('"callId":"c1"')
    expect(await archived(again, run)).toEqual([])
  })

  it('sets a copy aside that another process did not continue, and replaces it', async () => {
    const [one, two] = [await machine(), await machine()]
    const run = newRun()
    const folder = join(one.root, run)
    const records = await one.open(run)
    await records.synced()
    one.segments.append = async () => {
      throw new Error('away')
    }
    for (const event of [started('c1'), ended('c1')]) records.append(event)
    await records.written()
    const mine = await textOf(one, run)
    await one.end()
    await rm(join(folder, 'lock'), { force: true })
    await (await two.open(run)).close()
    await two.end()

    const again = await newMachine(store, one.root, `${one.id}-again`)
    await (await again.open(run)).close()
    expect((await textOf(again, run)).startsWith(await textOf(two, run))).toBe(true)
    expect(await textOf(again, run)).toBe(await sharedText(store, run))
    const [name, ...others] = await archived(again, run)
    expect([name, others]).toEqual([expect.stringMatching(/^diverged-3-[0-9a-f]{8}\.jsonl$/), []])
    expect(await readFile(join(folder, 'archive', name!), 'utf8')).toBe(mine)
    expect(await readdir(folder)).not.toContain('.draft')
    expect(await verifyRun(folder)).toMatchObject({ state: 'intact', calls: 0, problems: [] })
  })
})

describe('a shared record that was tampered with', () => {
  const tampered = async (change: (lines: string) => string) => {
    const [one, two] = [await machine(), await machine()]
    const run = await killedRun(one)
    const read: Machine['segments']['read'] = async (id, page) =>
      (await store.segments.read(id, page)).map((segment) => ({ ...segment, lines: change(segment.lines!) }))
    two.segments.read = read
    await expect(two.open(run)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(readFile(eventsFile(two, run))).resolves.toHaveLength(0)
  }

  it.each<[string, (lines: string) => string]>([
    ['a changed line', (lines) => lines.replace('notes.save', 'notes.read')],
    ['a line that is gone', (lines) => lines.split('\n').slice(1).join('\n')],
    ['a line at the end that is gone', (lines) => `${lines.trimEnd().split('\n').slice(0, -1).join('\n')}\n`],
    ['something else', () => 'no record\n'],
    ['nothing', () => ''],
  ])('is refused, and nothing is written: %s', (_, change) => tampered(change))

  it('is refused if it lacks its last segments', async () => {
    const [one, two] = [await machine(), await machine()]
    const run = await killedRun(one)
    two.segments.read = async () => []
    await expect(two.open(run)).rejects.toMatchObject({ message: expect.stringContaining('ends at event 0, but 4') })
  })

  it('does not replace the copy of this machine', async () => {
    const one = await machine()
    const run = await killedRun(one)
    const text = await textOf(one, run)
    await truncate(eventsFile(one, run), 0)
    await writeFile(eventsFile(one, run), text.replace('notes.save', 'notes.none'))
    const again = await newMachine(store, one.root, `${one.id}-again`)
    again.segments.read = async () => []
    await expect(again.open(run)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await textOf(again, run)).toContain('notes.none')
    expect(await archived(again, run)).toEqual([])
  })
})
