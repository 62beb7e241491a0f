import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../core/src/context.ts'
import { openArchives } from '../../../runtime/src/records/log/run-archives.ts'
import { type NewCandidate, openCandidates, openStoredCandidates } from './candidates.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-hub-candidates-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const candidate = (run: string, n: number, more: Partial<NewCandidate> = {}): NewCandidate => ({
  id: `${run}.${n.toString(16).padStart(16, '0')}`,
  run,
  scope: 'shared',
  key: 'shared',
  content: `note ${n}`,
  tags: [],
  origin: { run, tainted: false, reviewed: false, at: n },
  ...more,
})
const archiveOf = async (run: string) => {
  const folder = join(root, run, 'archive')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}
const MANY = { maxInRun: 100 }

describe('notes in the archives of runs', () => {
  it('are listed newest first over all runs, and found by their id alone', async () => {
    const archive = openCandidates(openArchives(root))
    for (const [run, n] of [
      ['a', 1],
      ['b', 3],
      ['a.b', 2],
    ] as const) {
      await archiveOf(run)
      await archive.add(candidate(run, n), MANY)
    }
    const listed = await archive.list({ state: 'waiting', limit: 2 })
    expect(listed.map(({ run }) => run)).toEqual(['b', 'a.b'])
    expect(await archive.find(candidate('a.b', 2).id)).toMatchObject({ content: 'note 2', state: 'waiting' })
    for (const id of ['a', 'a.', '../a.0000000000000001', 'nowhere.0000000000000001', '.0000000000000001'])
      expect(await archive.find(id)).toBeUndefined()
    expect(await openCandidates(openArchives(join(root, 'nowhere'))).list({ state: 'all', limit: 9 })).toEqual([])
  })

  it('are decided on by one at a time, and wait on when what follows from it fails', async () => {
    await archiveOf('turns')
    const [first, second] = [openCandidates(openArchives(root)), openCandidates(openArchives(root))]
    const { id } = candidate('turns', 1)
    await first.add(candidate('turns', 1), MANY)
    await expect(first.decide(id, () => Promise.reject(new Error('provider is down')))).rejects.toThrow('is down')
    expect(await first.find(id)).toMatchObject({ state: 'waiting' })
    let inside = 0
    const promote = (by: string) => async () => {
      expect(++inside).toBe(1)
      await new Promise(setImmediate)
      inside--
      return { id, decision: 'promoted' as const, by, at: 5 }
    }
    const outcomes = await Promise.all([first.decide(id, promote('x')), second.decide(id, promote('y'))])
    expect(outcomes.map(({ won }) => won).sort()).toEqual([false, true])
    const lines = await readFile(join(root, 'turns/archive/memory-reviews.jsonl'), 'utf8')
    expect(lines.trim().split('\n')).toHaveLength(1)
    await expect(first.decide('turns.ffffffffffffffff', promote('z'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('are not those of another run, and nothing that does not fit', async () => {
    const folder = await archiveOf('planted')
    const lines = [candidate('a', 9), { ...candidate('planted', 1), content: 7 }, candidate('planted', 2), 'text']
    await writeFile(join(folder, 'memory.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
    expect(
      (await openCandidates(openArchives(root)).list({ run: 'planted', state: 'all', limit: 9 })).map(({ id }) => id),
    ).toEqual([candidate('planted', 2).id])
  })

  it('are written to no link, and read from none', async () => {
    const folder = await archiveOf('linked')
    const elsewhere = join(root, 'elsewhere.jsonl')
    await writeFile(elsewhere, '')
    await symlink(elsewhere, join(folder, 'memory.jsonl'))
    const archive = openCandidates(openArchives(root))
    await expect(archive.add(candidate('linked', 1), MANY)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await readFile(elsewhere, 'utf8')).toBe('')
    await expect(openCandidates(openArchives(root)).add(candidate('no-such-run', 1), MANY)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
  })
})

describe('notes in a store that several machines share', () => {
  it('are decided on by one at a time, wait on when that fails, and are removed with their run', async () => {
    const store = openStore(join(root, 'store'))
    const open = () => openStoredCandidates({ store, clock: systemClock })
    const [first, second] = [open(), open()]
    const { id } = candidate('turns', 1)
    await first.add(candidate('turns', 1), { maxInRun: 1 })
    await expect(first.add(candidate('turns', 2), { maxInRun: 1 })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
    await expect(first.decide(id, () => Promise.reject(new Error('provider is down')))).rejects.toThrow('is down')
    expect(await second.find(id)).toMatchObject({ state: 'waiting', content: 'note 1' })
    let inside = 0
    const promote = (by: string) => async () => {
      expect(++inside).toBe(1)
      await new Promise(setImmediate)
      inside--
      return { id, decision: 'promoted' as const, by, at: 9 }
    }
    const outcomes = await Promise.all([first.decide(id, promote('ada')), second.decide(id, promote('bob'))])
    expect(outcomes.map(({ won }) => won).sort()).toEqual([false, true])
    expect(await first.list({ state: 'waiting', limit: 9 })).toEqual([])
    expect(await first.list({ state: 'all', limit: 9 })).toMatchObject([{ id, state: 'promoted' }])
    await expect(first.decide('nowhere.0000000000000001', promote('ada'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    for (const run of ['kept', 'again']) await first.add(candidate(run, 1), MANY)
    for (const run of ['turns', 'kept', 'again'])
      await store.heads.put({ run, opening: 'o1', seq: 1, hash: 'h', at: 1 })
    for (const run of ['turns', 'again']) await store.heads.remove(run, { by: 'ada', at: 2 })
    await store.heads.put({ run: 'again', opening: 'o2', seq: 1, hash: 'h', at: 3 })
    await store.sweep(10)
    const left = await first.list({ state: 'all', limit: 9 })
    expect(left.map(({ run }) => run).sort()).toEqual(['again', 'kept'])
    await store.close()
  })
})
