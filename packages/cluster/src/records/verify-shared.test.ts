import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { ended, newRun, started } from '../../../../test/support/record-run.ts'
import { newMachine } from '../../../../test/support/shared-records.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { SegmentStore, StoredSegment } from '../store/types.ts'
import { SharedCheck, type SharedCheckOptions } from './verify-shared.ts'

const store = openStore(temporaryFolder('shared-store'))
afterAll(() => store.close())
const machine = await newMachine(store, temporaryFolder('machine'), 'm')

/** A run of two segments that was closed. */
async function closedRun(): Promise<string> {
  const records = await machine.open(newRun())
  records.append(started('c1'))
  await records.synced()
  records.append(ended('c1'))
  await records.close()
  return records.run
}

const check = (change: Partial<SharedCheckOptions> = {}) =>
  SharedCheck.open({ source: { segments: store.segments }, heads: store.heads, ...change })
/** The same segments, as somebody with access to the database would have changed them. */
const tampered = (change: (segments: StoredSegment[]) => StoredSegment[]): Partial<SharedCheckOptions> => {
  const read: SegmentStore['read'] = async (run, page) => change([...(await store.segments.read(run, page))])
  return { source: { segments: { ...store.segments, read } } }
}
const problemsOf = async (run: string, options: Partial<SharedCheckOptions>) => {
  const { state, problems } = await (await check(options)).verify(run)
  expect(state).toBe('broken')
  return problems.map(({ problem }) => problem)
}
const withLines = (change: (lines: string) => string) => (segments: StoredSegment[]) =>
  segments.map((segment) => ({ ...segment, lines: change(segment.lines!) }))

describe('a shared record', () => {
  it('is intact when it was closed, and open or unproven otherwise', async () => {
    const run = await closedRun()
    const left = await machine.open(newRun())
    await left.synced()
    const shared = await check({ isOpen: (id) => id === left.run })
    expect(shared.runs()).toEqual(expect.arrayContaining([run, left.run]))
    expect(await shared.verify(run)).toMatchObject({ ok: true, state: 'intact', lines: 4, calls: 1, problems: [] })
    expect(await shared.verify(left.run)).toMatchObject({ ok: true, state: 'open' })
    expect(await (await check()).verify(left.run)).toMatchObject({ ok: false, state: 'unproven' })
    await left.close()
  })

  it('is compared with the copy of this machine, which may be behind or ahead', async () => {
    const run = await closedRun()
    const path = join(machine.root, run, 'events.jsonl')
    const text = await readFile(path, 'utf8')
    const { root } = machine
    expect(await (await check({ root })).verify(run)).toMatchObject({ state: 'intact' })
    await writeFile(
      path,
      text
        .split('\n')
        .slice(0, 2)
        .map((line) => `${line}\n`)
        .join(''),
    )
    expect(await (await check({ root })).verify(run)).toMatchObject({ state: 'intact' })
    const line = text.split('\n')[1]!
    const forged = line.replace(/"hash":"[0-9a-f]{64}"/, `"hash":"${'a'.repeat(64)}"`)
    await writeFile(path, `${forged}\n`)
    expect(await problemsOf(run, { root })).toEqual([
      'line 2 is not the line that the copy on this machine names as event 2',
    ])
    await rm(join(root, run), { recursive: true })
    expect(await (await check({ root })).verify(run)).toMatchObject({ state: 'intact' })
  })

  it('may differ from the copy of a machine that lost the run, from there on and no earlier', async () => {
    const lost = await newMachine(store, temporaryFolder('lost'), 'lost')
    const run = newRun()
    const records = await lost.open(run)
    records.append(started('c1'))
    await records.synced()
    lost.segments.append = async () => {
      throw new Error('away')
    }
    records.append(ended('c1'))
    await records.close()
    await lost.end()
    const other = await newMachine(store, temporaryFolder('other'), 'other')
    await (await other.open(run)).close()
    const { root } = lost
    const problem = 'this machine has other lines from event 3 on, which it wrote as it lost the run'
    expect(await (await check({ root })).verify(run)).toMatchObject({
      state: 'intact',
      problems: [],
      remarks: [{ problem }],
    })
    const path = join(root, run, 'events.jsonl')
    const [first, second, ...others] = (await readFile(path, 'utf8')).split('\n')
    const changed = second!.replace(/"hash":"[0-9a-f]{64}"/, `"hash":"${'b'.repeat(64)}"`)
    await writeFile(path, [first, changed, ...others].join('\n'))
    expect(await problemsOf(run, { root })).toEqual([
      'line 2 is not the line that the copy on this machine names as event 2',
    ])
  })
})

describe('a shared record that was tampered with', () => {
  it.each<[string, (segments: StoredSegment[]) => StoredSegment[], string]>([
    ['a changed line', withLines((lines) => lines.replace('notes.save', 'notes.none')), 'line 2 was changed'],
    [
      'a truncated record',
      (segments) => segments.slice(0, 1),
      'lines were removed at the end: the shared head names event 4',
    ],
    ['a segment that is gone', (segments) => segments.slice(1), 'events 1 to 2 are missing'],
    ['no segments', () => [], 'the shared record is gone'],
    ['a forged segment', withLines(() => '{"seq":1}\n'), 'line 1 is not a line of ours'],
    [
      'two chains',
      ([first, ...rest]) => [first!, { ...first!, epoch: 1 }, ...rest],
      'there are two chains: events 1 to 2 are shared twice, in epochs 1 and 1',
    ],
    [
      'an old epoch',
      ([first, ...rest]) => [{ ...first!, epoch: 7 }, ...rest],
      'events 3 to 4 are of epoch 1 and follow epoch 7: a process wrote them that had lost the run',
    ],
    [
      'another hash of a segment',
      (segments) => segments.map((segment) => ({ ...segment, hash: 'x' })),
      'the segment of events 1 to 2 does not end in the line that it names',
    ],
  ])('is found: %s', async (_, change, problem) => {
    expect(await problemsOf(await closedRun(), tampered(change))).toContain(problem)
  })

  it('is found if the whole record vanished, with its head and its file', async () => {
    const run = await closedRun()
    await store.segments.remove(run)
    await rm(join(machine.root, run), { recursive: true })
    const shared = await check({ root: machine.root })
    expect(shared.missing()).toEqual([run])
    expect(await shared.verify(run)).toMatchObject({
      state: 'broken',
      problems: [{ problem: 'the shared record is gone' }, {}],
    })
    await store.heads.remove(run, { by: 'ada', at: 1 })
    expect((await check()).missing()).toEqual([])
  })

  it('is not taken for an open one if only its file is left', async () => {
    const run = await closedRun()
    await store.segments.remove(run)
    const { root } = machine
    const remarks = [{ problem: expect.stringMatching(/is not shared; audit verify without --shared verifies it/) }]
    expect(await (await check({ root })).verify(run)).toMatchObject({ ok: false, state: 'unproven', remarks })
    expect(await (await check({ root, isOpen: () => true })).verify(run)).toMatchObject({ ok: true, state: 'open' })
  })

  it('is found if an object of the bucket is gone', async () => {
    const run = await closedRun()
    await store.segments.move(run, { first: 1, last: 2, object: 'gone' })
    const readObject = async () => {
      throw new Error('The bucket has no object gone.')
    }
    expect(await problemsOf(run, { source: { segments: store.segments, readObject } })).toContain(
      'The bucket has no object gone.',
    )
  })
})
