import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { ToolError } from '@tool-hub/core/errors'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import type { FileChange } from '../../../../core/src/handles.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'b.txt', 'sub/c.txt']) ws.put(name)
})
afterEach(() => ws.close())

const create = (path: string, content = 'new'): FileChange => ({ type: 'create', path, content })
const replace = (path: string, content = 'new', old = path): FileChange => ({
  type: 'replace',
  path,
  content,
  replaces: sha256(old),
})
const remove = (path: string, old = path): FileChange => ({ type: 'remove', path, replaces: sha256(old) })
const BEFORE = ['a.txt', 'b.txt', 'sub', 'sub/c.txt']

it('makes all changes, and keeps what they replace before the first', async () => {
  chmodSync(ws.at('a.txt'), 0o755)
  const changes = [replace('a.txt', 'A'), create('x/y/n.txt', 'N'), remove('sub/c.txt'), create('e.txt', '')]
  expect(await ws.handle().changeAll(changes)).toEqual([
    { bytes: 1, sha256: sha256('A') },
    { bytes: 1, sha256: sha256('N') },
    { bytes: 0, sha256: sha256('') },
    { bytes: 0, sha256: sha256('') },
  ])
  expect(ws.names()).toEqual(['a.txt', 'b.txt', 'e.txt', 'sub', 'x', 'x/y', 'x/y/n.txt'])
  expect([ws.text('a.txt'), ws.text('x/y/n.txt')]).toEqual(['A', 'N'])
  expect(statSync(ws.at('a.txt')).mode & 0o777).toBe(0o755)
  expect([...ws.journal.kept.values()].map(String).sort()).toEqual(['a.txt', 'sub/c.txt'])
  expect(ws.journal.ops(ws.root).sort()).toEqual([
    'create e.txt',
    'create x/y/n.txt',
    'make-folder x',
    'make-folder x/y',
    'remove sub/c.txt',
    'replace a.txt',
  ])
})

it('does nothing at all for nothing', async () => {
  expect(await ws.handle().changeAll([])).toEqual([])
})

it('refuses a path that is changed twice, however it is spelled, and a file below a file', async () => {
  for (const [one, two] of [
    ['x.txt', './sub/../x.txt'],
    ['x', 'x/y.txt'],
  ]) {
    const changes = [create(one!), create('x-between'), create(two!)]
    expect(await outcome(ws.handle().changeAll(changes))).toBe('INPUT_SCHEMA_INVALID')
  }
  expect(ws.names()).toEqual(BEFORE)
})

it('needs each member to be right and allowed before it changes any', async () => {
  mkdirSync(ws.at('folder'))
  symlinkSync('a.txt', ws.at('link'))
  const before = ws.names()
  const bad: [FileChange, string][] = [
    [create('b.txt'), 'CONFLICT'],
    [replace('b.txt', 'x', 'other'), 'CONFLICT'],
    [replace('gone.txt'), 'CONFLICT'],
    [remove('b.txt', 'other'), 'CONFLICT'],
    [remove('gone.txt'), 'NOT_FOUND'],
    [remove('folder'), 'INPUT_SCHEMA_INVALID'],
    [create('.git/config'), 'PATH_DENIED'],
    [replace('link', 'x', 'a.txt'), 'PATH_DENIED'],
    [create('../out/x.txt'), 'PATH_OUTSIDE_SANDBOX'],
    [create('half.txt', 'a\udc00'), 'INPUT_SCHEMA_INVALID'],
    [create('large.txt', 'x'.repeat(101)), 'FILE_TOO_LARGE'],
  ]
  for (const [change, code] of bad) {
    for (const changes of [
      [replace('a.txt'), change],
      [change, replace('a.txt')],
    ]) {
      expect([change, await outcome(ws.handle({ maxBytes: 100 }).changeAll(changes))]).toEqual([change, code])
      expect(ws.names()).toEqual(before)
      expect(ws.text('a.txt')).toBe('a.txt')
    }
  }
})

it('lets a tool that may not destroy replace what was read, and remove nothing', async () => {
  const cautious = ws.handle({ canOverwrite: false })
  expect(await outcome(cautious.changeAll([replace('a.txt')]))).toBe('POLICY_DENIED')
  ws.seen.set(ws.at('a.txt'), sha256('a.txt'))
  expect(await outcome(cautious.changeAll([replace('a.txt'), remove('b.txt')]))).toBe('POLICY_DENIED')
  expect(await outcome(cautious.changeAll([replace('a.txt')]))).toBe('ok')
})

it('lets a tool that may not destroy move what was read, and nothing else', async () => {
  const cautious = ws.handle({ canOverwrite: false })
  const moved = (to: string): FileChange => ({ type: 'remove', path: 'a.txt', replaces: sha256('a.txt'), movedTo: to })
  const move = (to: string) => outcome(cautious.changeAll([create('n.txt', ''), moved(to)]))
  expect(await move('n.txt')).toBe('POLICY_DENIED')
  ws.seen.set(ws.at('a.txt'), sha256('what it held before'))
  expect(await move('n.txt')).toBe('POLICY_DENIED')
  ws.seen.set(ws.at('a.txt'), sha256('a.txt'))
  expect(await move('elsewhere.txt')).toBe('POLICY_DENIED')
  expect(ws.names()).toEqual(BEFORE)
  expect(await move('n.txt')).toBe('ok')
})

it('takes back what it did when one of many fails at the last moment', async () => {
  // The last look at the name fails: somebody wrote to the file while the journal was busy.
  const journal = Object.assign(Object.create(ws.journal), {
    intend: async ({ path }: { path: string }) => {
      if (path === ws.at('sub/c.txt')) writeFileSync(path, 'meddled')
    },
  })
  const changes = [create('n.txt'), replace('a.txt'), remove('b.txt'), replace('sub/c.txt')]
  expect(await outcome(ws.handle({ journal }).changeAll(changes))).toBe('CONFLICT')
  expect(ws.names()).toEqual(BEFORE)
  expect(['a.txt', 'b.txt', 'sub/c.txt'].map(ws.text)).toEqual(['a.txt', 'b.txt', 'meddled'])
})

it('leaves every file as it was when any member fails at any moment', async () => {
  const kinds = fc.constantFrom('create', 'replace', 'remove')
  const plan = fc.record({
    members: fc.array(fc.record({ kind: kinds, text: fc.string() }), { minLength: 1, maxLength: 6 }),
    failing: fc.nat(5),
    at: fc.constantFrom('keep', 'intend', 'meddle', 'stop'),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ members, failing, at }) => {
      const round = changing()
      const stop = new AbortController()
      const changes = members.map(({ kind, text }, index): FileChange => {
        const path = kind === 'create' ? `d${index}/new.txt` : `f${index}.txt`
        if (kind === 'create') return create(path, text)
        round.put(path, `old ${index}`)
        return kind === 'replace' ? replace(path, text, `old ${index}`) : remove(path, `old ${index}`)
      })
      const before = new Map(round.names().map((name) => [name, round.text(name)]))
      const victim = round.at(changes[failing % changes.length]!.path)
      const journal = Object.assign(Object.create(round.journal), {
        keepFile: async () =>
          at === 'keep' ? Promise.reject(new ToolError('RECORDS_UNAVAILABLE', 'full')) : undefined,
        intend: async ({ op, path }: { op: string; path: string }) => {
          if (path !== victim) return
          if (at === 'intend') throw new ToolError('RECORDS_UNAVAILABLE', 'full')
          if (at === 'stop') stop.abort()
          if (at === 'meddle' && op === 'create') writeFileSync(path, 'meddled')
          if (at === 'meddle' && op !== 'create') writeFileSync(path, 'meddled, and longer')
        },
      })
      const result = await outcome(round.handle({ journal, signal: () => stop.signal }).changeAll(changes))
      const meddled = at === 'meddle' ? victim : undefined
      try {
        // Without anything to keep, nothing can fail there.
        const canFail = at !== 'keep' || members.some(({ kind }) => kind !== 'create')
        expect(result !== 'ok').toBe(canFail)
        if (!canFail) return
        for (const [name, text] of before) if (round.at(name) !== meddled) expect(round.text(name)).toBe(text)
        const files = round.names().filter((name) => statSync(round.at(name)).isFile() && round.at(name) !== meddled)
        expect(files).toEqual([...before.keys()].filter((name) => round.at(name) !== meddled))
      } finally {
        round.close()
      }
    }),
    { numRuns: 60 },
  )
})
