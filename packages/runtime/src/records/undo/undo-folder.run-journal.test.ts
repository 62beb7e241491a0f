import { appendFileSync, readFileSync } from 'node:fs'
import { chmod, link, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import type { Change, FileState } from '../../../../core/src/change.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { RunRecords } from '../log/run-records.ts'
import { verifyRun } from '../log/verify-run.ts'
import { createRunJournal } from './undo-folder.ts'

const ofCall = { callId: 'c1', tool: 'core/fs.edit', maxBytes: 1_000_000 }
let base: string
let records: RunRecords

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'run-journal-'))
  records = open()
})
afterEach(async () => {
  await records.close()
  await rm(base, { recursive: true })
})

const open = (run = 'run-1') => RunRecords.open(join(base, 'runs'), run, { durability: 'effects', clock: systemClock })
const kept = () => readdir(join(records.folder, 'undo'))
const content = (name: string) => readFileSync(join(records.folder, 'undo', name), 'utf8')
const stateOf = (text: string): FileState => ({ sha256: sha256(text), bytes: Buffer.byteLength(text), mode: 0o644 })

async function source(name: string, text: string): Promise<string> {
  await writeFile(join(base, name), text)
  return join(base, name)
}

describe('the journal of a run', () => {
  it('keeps a replaced file by its hash, without copying it', async () => {
    const path = await source('a.txt', 'old')
    const { ino } = await stat(path)
    expect(await createRunJournal(records, ofCall).keepFile(path, stateOf('old'))).toBeUndefined()
    expect(await kept()).toEqual([sha256('old')])
    expect((await stat(join(records.folder, 'undo', sha256('old')))).ino).toBe(ino)
    await writeFile(`${path}.new`, 'new')
    await rename(`${path}.new`, path)
    expect(content(sha256('old'))).toBe('old')
  })

  it('copies a file that has other names, which could change it later', async () => {
    const path = await source('a.txt', 'old')
    await link(path, join(base, 'b.txt'))
    await chmod(path, 0o444)
    await createRunJournal(records, ofCall).keepFile(path, stateOf('old'))
    await chmod(path, 0o644)
    appendFileSync(path, ' and more')
    expect(await kept()).toEqual([sha256('old')])
    expect(content(sha256('old'))).toBe('old')
  })

  it('keeps equal content once, also when two changes replace it at the same moment', async () => {
    const journal = createRunJournal(records, { ...ofCall, maxBytes: 3 })
    const paths = await Promise.all(['a', 'b', 'c'].map((name) => source(name, 'old')))
    const reasons = await Promise.all(paths.map((path) => journal.keepFile(path, stateOf('old'))))
    expect(reasons).toEqual([undefined, undefined, undefined])
    expect(await kept()).toEqual([sha256('old')])
  })

  it('keeps content anew when what it kept was changed through its other name', async () => {
    const journal = createRunJournal(records, ofCall)
    const first = await source('a', 'old')
    await journal.keepFile(first, stateOf('old'))
    await writeFile(first, 'changed in place')
    await journal.keepFile(await source('b', 'old'), stateOf('old'))
    expect(content(sha256('old'))).toBe('old')
  })

  it('does not take the live file of a change that was never made for what another one replaces', async () => {
    const journal = createRunJournal(records, { ...ofCall, maxBytes: 3 })
    const live = await source('a', 'old')
    await journal.keepFile(live, stateOf('old'))
    expect(await journal.keepFile(await source('b', 'old'), stateOf('old'))).toBeUndefined()
    await writeFile(live, 'changed in place')
    expect(content(sha256('old'))).toBe('old')
    expect(await kept()).toEqual([sha256('old')])
    // It is counted once.
    expect(await journal.keepFile(await source('c', 'old'), stateOf('old'))).toBeUndefined()
    expect(await journal.keepFile(await source('d', 'x'), stateOf('x'))).toMatch(/would not fit/)
  })

  it('says small numbers in small units', async () => {
    const journal = createRunJournal(records, { ...ofCall, maxBytes: 1_500 })
    expect(await journal.placeForTree(12_345)).toEqual({
      refusal: '12.3 KB more would not fit: the undo journal of this run holds 0 bytes of 1.5 KB',
    })
  })

  it('frees the space reserved for a tree that did not come', async () => {
    const journal = createRunJournal(records, ofCall)
    const place = await journal.placeForTree(900_000)
    if (!('path' in place)) throw new Error(place.refusal)
    expect(await journal.placeForTree(900_000)).toHaveProperty('refusal')
    place.release?.()
    expect(await journal.placeForTree(900_000)).toHaveProperty('path')
  })

  it('says with numbers what does not fit, over all calls of the run and after it was opened again', async () => {
    const maxBytes = 2_000_000
    const text = 'x'.repeat(1_500_000)
    const first = createRunJournal(records, { ...ofCall, maxBytes })
    expect(await first.keepFile(await source('a', text), stateOf(text))).toBeUndefined()
    const refusal = '1 MB more would not fit: the undo journal of this run holds 1.5 MB of 2 MB'
    const second = createRunJournal(records, { ...ofCall, callId: 'c2', maxBytes })
    const other = 'y'.repeat(1_000_000)
    expect(await second.keepFile(await source('b', other), stateOf(other))).toBe(refusal)
    expect(await second.placeForTree(1_000_000)).toEqual({ refusal })
    await records.close()
    records = open()
    const third = createRunJournal(records, { ...ofCall, maxBytes })
    expect(await third.keepFile(await source('b', other), stateOf(other))).toBe(refusal)
    expect(await third.keepFile(await source('c', text), stateOf(text))).toBeUndefined()
    expect(await kept()).toEqual([sha256(text)])
  })

  it('counts removed trees by their name, and clears what a crash left half-copied', async () => {
    const place = await createRunJournal(records, ofCall).placeForTree(900_000)
    if (!('path' in place)) throw new Error(place.refusal)
    expect(place.path).toBe(join(records.folder, 'undo', place.name))
    await mkdir(place.path)
    await writeFile(join(records.folder, 'undo', `${sha256('x')}.0123456789ab`), 'half')
    await records.close()
    records = open()
    expect(await createRunJournal(records, ofCall).placeForTree(200_000)).toHaveProperty('refusal')
    expect(await kept()).toEqual([place.name])
  })

  it('keeps nothing that is not the file that was announced', async () => {
    const journal = createRunJournal(records, ofCall)
    const path = await source('a', 'other')
    expect(await journal.keepFile(path, stateOf('old'))).toBe('it was changed while it was kept')
    await link(path, join(base, 'second'))
    expect(await journal.keepFile(path, stateOf('older'))).toBe('it was changed while it was kept')
    await symlink('a', join(base, 'l'))
    expect(await journal.keepFile(join(base, 'l'), stateOf('other'))).toBe('it was changed while it was kept')
    await expect(journal.keepFile(join(base, 'gone'), stateOf('x'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await kept()).toEqual([])
  })

  it('puts a change into the chain, where audit verify finds it intact', async () => {
    const journal = createRunJournal(records, ofCall)
    const change: Change = {
      op: 'replace',
      path: join(base, 'a'),
      before: stateOf('old'),
      after: stateOf('new'),
    }
    await journal.keepFile(await source('a', 'old'), change.before)
    await Promise.all([journal.intend(change), journal.intend({ ...change, notUndoable: 'too large' })])
    await records.close()
    const events = (await eventsOf({ folder: base, run: 'run-1' })).filter(({ type }) => type === 'file-changing')
    expect(events).toMatchObject([{ callId: 'c1', tool: 'core/fs.edit', ...change }, { notUndoable: 'too large' }])
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, problems: [] })
  })

  it('intends nothing when the record refuses', async () => {
    const problem = Object.assign(new Error('full'), { code: 'RECORDS_UNAVAILABLE' })
    const appended: unknown[] = []
    const broken = {
      folder: records.folder,
      problem: problem as never,
      append: (event: unknown) => appended.push(event),
      synced: async () => {},
    }
    const change: Change = { op: 'make-folder', path: '/x' }
    await expect(createRunJournal(broken, ofCall).intend(change)).rejects.toBe(problem)
    expect(appended).toEqual([])
  })

  it('waits for the disk, unless it writes behind', async () => {
    const done: string[] = []
    const watched = {
      folder: records.folder,
      problem: undefined,
      append: ({ type }: { readonly type: string }) => done.push(type),
      synced: async () => void done.push('synced'),
    }
    const change: Change = { op: 'remove', path: '/x', before: stateOf('old') }
    const journal = createRunJournal(watched, ofCall)
    await journal.keepFile(await source('a', 'old'), change.before)
    await journal.intend(change)
    expect(done).toEqual(['file-changing', 'synced'])
    await createRunJournal(watched, { ...ofCall, durability: 'behind' }).intend(change)
    expect(done).toEqual(['file-changing', 'synced', 'file-changing'])
    await rm(join(records.folder, 'undo', sha256('old')))
    const second = { ...watched }
    const other = createRunJournal(second, ofCall)
    await other.keepFile(await source('b', 'new'), stateOf('new'))
    await rm(join(records.folder, 'undo', sha256('new')))
    await expect(other.intend({ ...change, before: stateOf('new') })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'What the change replaces cannot be kept: the folder cannot be used (ENOENT).',
      details: { path: join(records.folder, 'undo') },
    })
  })
})
