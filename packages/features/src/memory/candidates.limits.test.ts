import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { openArchives } from '../../../runtime/src/records/log/run-archives.ts'
import { type CandidateArchive, type CandidateReview, type NewCandidate, openCandidates } from './candidates.ts'

let root: string
let archive: CandidateArchive
beforeEach(() => {
  root = temporaryFolder('candidates')
  archive = openCandidates(openArchives(root))
  folderOf('r')
})

const idOf = (n: number, run = 'r') => `${run}.${n.toString(16).padStart(16, '0')}`
const folderOf = (run: string) => {
  mkdirSync(join(root, run, 'archive'), { recursive: true, mode: 0o700 })
  return join(root, run, 'archive')
}
const note = (n: number, more: object = {}, run = 'r'): NewCandidate => ({
  id: idOf(n, run),
  run,
  scope: 'shared',
  key: 'k',
  content: `note ${n}`,
  tags: ['t'],
  replaces: 'n1',
  origin: {
    run,
    session: 's',
    callId: 'c',
    caller: 'a',
    principal: 'p',
    tainted: false,
    reviewed: false,
    at: n,
  },
  ...more,
})
const MANY = { maxInRun: 10_000 }
const ids = async (filter: Partial<Parameters<CandidateArchive['list']>[0]> = {}) =>
  (await archive.list({ state: 'all', limit: 100, ...filter })).map(({ id }) => id)

describe('a note for review', () => {
  it('is read with all that was written', async () => {
    await archive.add(note(1), MANY)
    expect(await archive.find(idOf(1))).toEqual({ ...note(1), state: 'waiting' })
    expect(readFileSync(join(root, 'r/archive/memory.jsonl'), 'utf8')).toBe(`${JSON.stringify(note(1))}\n`)
  })

  it.each<[string, (length: number) => object, number]>([
    ['key', (length) => ({ key: 'x'.repeat(length) }), 1_000],
    ['content', (length) => ({ content: 'x'.repeat(length) }), 100_000],
    ['tags', (length) => ({ tags: Array(length).fill('x') }), 100],
    ['tags.0', (length) => ({ tags: ['x'.repeat(length)] }), 200],
    ['replaces', (length) => ({ replaces: 'x'.repeat(length) }), 1_000],
    ['origin.session', (length) => ({ origin: { ...note(1).origin, session: 'x'.repeat(length) } }), 1_000],
  ])('has a bounded %s', async (field, more, most) => {
    await archive.add(note(1, more(most)), MANY)
    expect(await archive.find(idOf(1))).toMatchObject(more(most))
    await expect(archive.add(note(2, more(most + 1)), MANY)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(new RegExp(`^The note cannot be stored: ${field}: .*\\.$`)),
      fix: { hint: 'Use shorter names for the caller and the session.' },
    })
    expect(await ids()).toEqual([idOf(1)])
  })

  it.each([
    ['no id of ours', { id: `r.${'0'.repeat(15)}` }],
    ['an id with more behind it', { id: `${idOf(1)}0` }],
    ['an id of no run', { id: `.${'0'.repeat(16)}` }],
    ['an unknown scope', { scope: 'all' }],
    ['no time', { origin: { tainted: false, reviewed: false } }],
    ['no word on where it comes from', { origin: { at: 1, reviewed: false } }],
    ['no word on its review', { origin: { at: 1, tainted: false } }],
    ['no tags', { tags: undefined }],
    ['no key', { key: undefined }],
    ['no run', { run: undefined }],
  ])('is passed over with %s', async (_name, more) => {
    appendFileSync(join(folderOf('r'), 'memory.jsonl'), `${JSON.stringify({ ...note(1), ...more })}\n`)
    expect(await ids()).toEqual([])
  })

  it('is refused when the run has as many as it may', async () => {
    await archive.add(note(1), { maxInRun: 2 })
    await archive.add(note(2), { maxInRun: 2 })
    await expect(archive.add(note(3), { maxInRun: 2 })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'Run r has 2 notes for review, which is the limit.',
      fix: {
        key: 'memory.limits.candidates',
        hint: 'Write fewer and longer notes, or ask the owner to raise the limit.',
      },
    })
  })
})

describe('the list of notes', () => {
  it('has the newest first, and of one time the last id', async () => {
    for (const [n, at] of [
      [1, 5],
      [2, 7],
      [3, 5],
      [4, 6],
    ] as const)
      await archive.add(note(n, { origin: { ...note(n).origin, at } }), MANY)
    expect(await ids()).toEqual([2, 4, 3, 1].map((n) => idOf(n)))
    expect(await ids({ limit: 3 })).toEqual([2, 4, 3].map((n) => idOf(n)))
    expect(await ids({ run: 'other' })).toEqual([])
    expect(await ids({ run: '../r' })).toEqual([])
  })

  it('has the newest of many runs', async () => {
    for (const [index, run] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const lines = [0, 1, 2].map((n) => `${JSON.stringify(note(n * 5 + index, {}, run))}\n`)
      writeFileSync(join(folderOf(run), 'memory.jsonl'), lines.join(''))
    }
    writeFileSync(join(root, 'file'), '')
    mkdirSync(join(root, '.hidden'))
    expect((await archive.list({ state: 'all', limit: 4 })).map(({ origin }) => origin.at)).toEqual([14, 13, 12, 11])
    expect(await ids()).toHaveLength(15)
  })

  it('says why it cannot be read', async () => {
    writeFileSync(join(root, 'file'), '')
    await expect(
      openCandidates(openArchives(join(root, 'file'))).list({ state: 'all', limit: 1 }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The run records cannot be listed: the folder cannot be used (ENOTDIR).',
    })
  })
})

describe('a decision', () => {
  const review = (more: Partial<CandidateReview> = {}): CandidateReview => ({
    id: idOf(1),
    decision: 'promoted',
    by: 'ada',
    at: 9,
    ...more,
  })

  it('is kept with its note, and the first one counts', async () => {
    await archive.add(note(1), MANY)
    await archive.add(note(2), MANY)
    const full = review({ reason: 'good', note: 'n7' })
    expect(await archive.decide(idOf(1), async () => full)).toEqual({ won: true, review: full })
    const candidate = { ...note(1), state: 'promoted', review: { by: 'ada', at: 9, reason: 'good', note: 'n7' } }
    expect(await archive.find(idOf(1))).toEqual(candidate)
    appendFileSync(
      join(root, 'r/archive/memory-reviews.jsonl'),
      `${JSON.stringify(review({ decision: 'rejected' }))}\n`,
    )
    const late = await archive.decide(idOf(1), () => Promise.reject(new Error('not asked')))
    expect(late).toEqual({ won: false, candidate })
    expect(await ids({ state: 'waiting' })).toEqual([idOf(2)])
    expect(await ids({ state: 'promoted' })).toEqual([idOf(1)])
    expect(await ids({ state: 'rejected' })).toEqual([])
    const short = review({ id: idOf(2), decision: 'rejected' })
    await archive.decide(idOf(2), async () => short)
    expect(await archive.find(idOf(2))).toEqual({ ...note(2), state: 'rejected', review: { by: 'ada', at: 9 } })
  })

  it.each([
    ['an unknown decision', { decision: 'forgotten' }],
    ['nobody', { by: undefined }],
    ['no time', { at: undefined }],
    ['a long name', { by: 'x'.repeat(1_001) }],
    ['a long reason', { reason: 'x'.repeat(10_001) }],
    ['a long note', { note: 'x'.repeat(1_001) }],
  ])('is passed over with %s', async (_name, more) => {
    await archive.add(note(1), MANY)
    const path = join(folderOf('r'), 'memory-reviews.jsonl')
    appendFileSync(path, `${JSON.stringify({ ...review(), ...more })}\n`)
    expect(await archive.find(idOf(1))).toMatchObject({ state: 'waiting' })
    const longest = review({ reason: 'x'.repeat(10_000), note: 'x'.repeat(1_000), by: 'x'.repeat(1_000) })
    appendFileSync(path, `${JSON.stringify(longest)}\n`)
    expect(await archive.find(idOf(1))).toMatchObject({ state: 'promoted' })
  })

  it('is refused for a note that is not there', async () => {
    const decide = (id: string) => archive.decide(id, async () => review())
    await expect(decide(idOf(7))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `No note waits for review under "${idOf(7)}".`,
      fix: { hint: 'List the candidates with tool-hub memory review --list.' },
    })
    await expect(decide('x'.repeat(201))).rejects.toThrow(`under "${'x'.repeat(200)}".`)
  })

  it('gives the lock back', async () => {
    await archive.add(note(1), MANY)
    await expect(archive.decide(idOf(1), () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    await archive.decide(idOf(1), async () => review())
    const path = join(root, 'r/archive/memory-reviews.lock')
    expect(() => readFileSync(path)).toThrow('ENOENT')
  })

  it('says that the lock cannot be taken', async () => {
    await archive.add(note(1), MANY)
    mkdirSync(join(root, 'r/archive/memory-reviews.lock'))
    await expect(archive.decide(idOf(1), async () => review())).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
