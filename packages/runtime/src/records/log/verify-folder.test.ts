import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { StoredHead } from '../../../../core/src/store.ts'
import { FIRST_PREV, linkLine } from './event-line.ts'
import { RunRecords } from './run-records.ts'
import { type FirstLines, FolderCheck } from './verify-folder.ts'

let root: string
let stored: StoredHead[]
beforeEach(() => {
  root = temporaryFolder('verify-folder')
  stored = []
})

const HASH = 'a'.repeat(64)
const store = {
  list: ({ run }: { run?: string } = {}) => stored.filter((head) => run === undefined || head.run === run),
}
const head = (run: string, seq: number, more: Partial<StoredHead> = {}): StoredHead => ({
  run,
  seq,
  hash: HASH,
  opening: HASH,
  at: 0,
  ...more,
})

async function makeRun(run: string, withStore = false): Promise<{ readonly seq: number; readonly hash: string }> {
  const heads = withStore ? { put: (one: StoredHead) => void stored.push(one) } : undefined
  await RunRecords.open(root, run, { durability: 'effects', clock: systemClock, heads }).close()
  return JSON.parse(
    readFileSync(join(root, run, 'events.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .at(-1)!,
  )
}

const problemsOf = async (run: string, check?: FolderCheck) => {
  const report = await (check ?? (await FolderCheck.open(root, store))).verify(run)
  return report.problems.map(({ problem }) => problem)
}

describe('what others say of a run', () => {
  it('is compared with its lines: the store, the run after it and last-head.json', async () => {
    const first = await makeRun('a', true)
    await makeRun('b', true)
    await makeRun('c', true)
    for (const run of ['a', 'b', 'c']) {
      const report = await (await FolderCheck.open(root, store)).verify(run)
      expect(report).toMatchObject({ ok: true, state: 'intact', problems: [], remarks: [] })
    }
    expect((await FolderCheck.open(root, store)).missing()).toEqual([])
    writeFileSync(join(root, 'last-head.json'), JSON.stringify({ run: 'c', seq: 1, hash: HASH }))
    expect(await problemsOf('c')).toEqual(['line 1 is not the line that last-head.json names as event 1'])
    stored.push(head('a', first.seq), head('a', 9))
    expect(await problemsOf('a')).toEqual([
      'line 2 is not the line that the store names as event 2',
      'lines were removed at the end: the store names event 9',
    ])
  })

  it('does not count when the run was removed by its owner', async () => {
    await makeRun('a', true)
    await makeRun('b', true)
    rmSync(join(root, 'a'), { recursive: true })
    expect((await FolderCheck.open(root, store)).missing()).toMatchObject([{ run: 'a' }])
    stored = stored.map((one) => (one.run === 'a' ? { ...one, removedBy: 'ada' } : one))
    expect((await FolderCheck.open(root, store)).missing()).toEqual([])
    expect(await problemsOf('a')).toEqual(['the run does not exist'])
    stored.push(head('c', 4, { removedBy: 'ada' }))
    writeFileSync(join(root, 'last-head.json'), JSON.stringify({ run: 'c', seq: 4, hash: HASH }))
    expect((await FolderCheck.open(root, store)).missing()).toEqual([])
  })

  it('proves the end of a run only as far as heads of it are kept', async () => {
    const last = await makeRun('a', true)
    stored = stored.map((one) => ({ ...one, removedBy: 'ada' }))
    expect(await (await FolderCheck.open(root, store)).verify('a')).toMatchObject({
      ok: false,
      state: 'unproven',
      remarks: [{ problem: `the store has no head of this run, but the run was closed by event ${last.seq}` }],
    })
    expect(await (await FolderCheck.open(root, undefined)).verify('a')).toMatchObject({ ok: true, remarks: [] })
  })
})

describe('a run that is gone', () => {
  const gone = { ok: false, state: 'broken', lines: 0, calls: 0, interrupted: 0, remarks: [] }

  it('is reported with the store that knows most of it', async () => {
    await makeRun('a')
    const before = await makeRun('b')
    await makeRun('c')
    rmSync(join(root, 'b'), { recursive: true })
    const problem = (source: string, seq: number) => [
      { line: 0, seq, problem: `the run is gone: ${source} names its event ${seq}` },
    ]
    const check = await FolderCheck.open(root, undefined)
    const report = { ...gone, run: 'b', problems: problem('the first line of run c', before.seq) }
    expect(check.missing()).toEqual([report])
    expect(await check.verify('b')).toEqual(report)
    stored.push(head('b', 1), head('b', 7), head('b', 5))
    const known = await FolderCheck.open(root, store)
    expect(known.missing()).toEqual([{ ...gone, run: 'b', problems: problem('the store', 7) }])
    expect(await known.verify('never')).toEqual({
      ...gone,
      run: 'never',
      problems: [{ line: 0, seq: 0, problem: 'the run does not exist' }],
    })
  })

  it('is reported in addition to a last-head.json that cannot be read', async () => {
    writeFileSync(join(root, 'last-head.json'), '{')
    stored.push(head('b', 7))
    expect((await FolderCheck.open(root, store)).missing()).toMatchObject([
      { run: 'b' },
      {
        ...gone,
        run: 'last-head.json',
        problems: [{ line: 0, seq: 0, problem: 'last-head.json cannot be read as we wrote it' }],
      },
    ])
  })

  it('is every run if the folder does not exist', async () => {
    const check = await FolderCheck.open(join(root, 'nowhere'), undefined)
    expect(check.missing()).toEqual([])
    writeFileSync(join(root, 'file'), '')
    await expect(FolderCheck.open(join(root, 'file'), undefined)).rejects.toThrow('ENOTDIR')
  })
})

describe('the first line of a run', () => {
  it('is read once', async () => {
    await makeRun('a')
    const before = await makeRun('b')
    await makeRun('c')
    const lines: FirstLines = new Map()
    await FolderCheck.open(root, undefined, lines)
    const known = { run: 'b', seq: before.seq, hash: before.hash }
    expect(Object.fromEntries(lines)).toMatchObject({ [join(root, 'a')]: 'none', [join(root, 'c')]: known })
    lines.set(join(root, 'c'), { run: 'x', seq: 3, hash: HASH })
    expect((await FolderCheck.open(root, undefined, lines)).missing()).toMatchObject([{ run: 'x' }])
  })

  it('reports nothing if it is not such a line', async () => {
    await makeRun('a')
    const opened = (after: object, type = 'run-opened') =>
      linkLine({ seq: 0, hash: FIRST_PREV }, '2026-01-01T00:00:00.000Z', JSON.stringify({ type, after })).line
    const x = { run: 'x', seq: 1, hash: HASH }
    const lines = {
      good: opened(x),
      late: `\n${opened(x)}`,
      changed: opened(x).replace('"run":"x"', '"run":"y"'),
      other: opened(x, 'run-closed'),
      noise: 'noise\n',
      half: opened(x).slice(0, -1),
    }
    for (const [name, text] of Object.entries(lines)) {
      mkdirSync(join(root, name))
      appendFileSync(join(root, name, 'events.jsonl'), text)
    }
    mkdirSync(join(root, 'empty'))
    mkdirSync(join(root, 'linked'))
    symlinkSync(join(root, 'good/events.jsonl'), join(root, 'linked/events.jsonl'))
    const firstLines: FirstLines = new Map()
    const check = await FolderCheck.open(root, undefined, firstLines)
    expect([...firstLines.keys()].sort()).toEqual([join(root, 'a'), join(root, 'good')])
    expect(check.missing()).toMatchObject([{ run: 'x', problems: [{ problem: expect.stringContaining('run good') }] }])
  })
})
