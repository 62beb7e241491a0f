import { ToolError } from '@tool-hub/core/errors'
import type { FoundEntry } from '@tool-hub/sandbox/files'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeTree } from '../../../../../test/support/fake-tree.ts'
import type { Step } from './judge-change.ts'
import { type Restorer, rehearse } from './restorer.ts'
import { type TakenChange, type UndoRun, undoChanges } from './undo-changes.ts'

const never = new AbortController().signal
const diff = async () => 'a diff'

function undo(tree: FakeTree, options: Partial<UndoRun> = {}, changes: readonly TakenChange[] = tree.changes) {
  const marks = { isUndone: () => false, onJudged: () => {} }
  return undoChanges(changes, { restorer: tree.restorer, force: false, signal: never, diff, ...marks, ...options })
}

function rehearsal(tree: FakeTree): Restorer {
  const { look } = tree.restorer
  const lookKept = async (path: string): Promise<FoundEntry> => tree.lookKept(path)
  return rehearse({ look, lookKept, keptTree: async ({ tree: name }) => `/kept/${name}`, checkKept: async () => {} })
}

const PATHS = ['/a', '/b', '/d', '/d/x', '/d/y', '/d/e', '/d/e/z', '/f']
const operation = fc.oneof(
  fc.record({
    op: fc.constant('write' as const),
    path: fc.constantFrom(...PATHS),
    text: fc.constantFrom('1', '2', '3'),
  }),
  fc.record({ op: fc.constant('remove' as const), path: fc.constantFrom(...PATHS) }),
  fc.record({ op: fc.constant('make' as const), path: fc.constantFrom(...PATHS) }),
  fc.record({ op: fc.constant('move' as const), path: fc.constantFrom(...PATHS), to: fc.constantFrom(...PATHS) }),
  fc.record({ op: fc.constant('copy' as const), path: fc.constantFrom(...PATHS), to: fc.constantFrom(...PATHS) }),
)
const operations = fc.array(operation, { maxLength: 12 })

function changed(steps: readonly (typeof operation extends fc.Arbitrary<infer T> ? T : never)[]): FakeTree {
  const tree = new FakeTree({ '/a': 'old', '/d': null, '/d/x': 'x', '/d/e': null, '/d/e/z': 'z' })
  for (const step of steps) tree.apply(step)
  return tree
}

describe('undoing all changes', () => {
  it('gives exactly the tree before, whatever they were', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (steps) => {
        const tree = changed(steps)
        const report = await undo(tree)
        expect(report.filter(({ action }) => action === 'refused')).toEqual([])
        expect(tree.content).toEqual(changed([]).content)
      }),
    )
  })

  it('is completed by a second undo when the first was stopped anywhere, and a third has nothing to do', async () => {
    await fc.assert(
      fc.asyncProperty(operations, fc.nat(12), async (steps, stopAfter) => {
        const tree = changed(steps)
        const changes = [...tree.changes]
        const undone = new Set<TakenChange>()
        const isUndone = (change: TakenChange) => undone.has(change)
        const onJudged = (change: TakenChange) => {
          if (undone.size === stopAfter) throw new Error('killed between the step and its record')
          undone.add(change)
        }
        await undo(tree, { isUndone, onJudged }, changes).catch(() => {})
        const go = { isUndone, onJudged: (change: TakenChange) => undone.add(change) }
        const second = await undo(tree, go, changes)
        expect(second.filter(({ action }) => action === 'refused')).toEqual([])
        expect(tree.content).toEqual(changed([]).content)
        const third = await undo(tree, go, changes)
        expect(third.every(({ action }) => action === 'already')).toBe(true)
      }),
    )
  })

  it('is foretold by a rehearsal, which changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (steps) => {
        const tree = changed(steps)
        const before = tree.content
        const foretold = await undo(tree, { restorer: rehearsal(tree) })
        expect(tree.content).toEqual(before)
        expect(await undo(tree)).toEqual(foretold)
      }),
    )
  })
})

describe('a change that somebody else changed since', () => {
  const edited = () => {
    const tree = changed([{ op: 'write', path: '/a', text: 'by the tool' as '1' }])
    tree.set('/a', 'by a person')
    return tree
  }

  it('is refused with a diff, and left alone', async () => {
    const tree = edited()
    expect(await undo(tree)).toEqual([
      { path: '/a', op: 'replace', call: 'c1', action: 'refused', reason: 'was changed since', diff: 'a diff' },
    ])
    expect(tree.content['/a']).toBe('by a person')
  })

  it('is taken back by force', async () => {
    const tree = edited()
    expect(await undo(tree, { force: true })).toMatchObject([{ action: 'restored' }])
    expect(tree.content['/a']).toBe('old')
  })

  it('does not stop the others', async () => {
    const tree = changed([
      { op: 'write', path: '/a', text: '1' },
      { op: 'write', path: '/b', text: '2' },
    ])
    tree.set('/b', 'by a person')
    expect((await undo(tree)).map(({ action }) => action)).toEqual(['refused', 'restored'])
    expect(tree.content).toMatchObject({ '/a': 'old', '/b': 'by a person' })
  })
})

describe('a tree that was removed in part', () => {
  const halfGone = () => {
    const tree = changed([{ op: 'remove', path: '/d' }])
    tree.set('/d', null)
    tree.set('/d/x', 'x')
    return tree
  }

  it('gets back what is missing, as a rehearsal foretells', async () => {
    const tree = halfGone()
    const foretold = await undo(tree, { restorer: rehearsal(tree) })
    expect(foretold).toMatchObject([{ action: 'restored' }])
    expect(await undo(tree)).toEqual(foretold)
    expect(tree.content).toEqual(changed([]).content)
  })

  it('is left alone when something in it differs, or is new', async () => {
    for (const [path, text] of [
      ['/d/x', 'by a person'],
      ['/d/new', 'by a person'],
      ['/d/e', 'now a file'],
    ]) {
      const tree = halfGone()
      tree.set(path!, text!)
      const before = tree.content
      expect(await undo(tree)).toMatchObject([{ action: 'refused', reason: 'is there again: a folder' }])
      expect(tree.content).toEqual(before)
    }
  })

  it('needs nothing when all of it is there', async () => {
    const tree = halfGone()
    tree.set('/d/e', null)
    tree.set('/d/e/z', 'z')
    expect(await undo(tree)).toMatchObject([{ action: 'already' }])
  })
})

describe('a step that fails', () => {
  const failing = (tree: FakeTree, error: unknown): Restorer => ({
    ...tree.restorer,
    apply: async (_step: Step) => {
      throw error
    },
  })

  it('is reported as a refusal with its reason when it is an expected one', async () => {
    const tree = changed([{ op: 'write', path: '/a', text: '1' }])
    const restorer = failing(tree, new ToolError('CONFLICT', 'What was kept was changed since.'))
    expect(await undo(tree, { restorer })).toMatchObject([
      { action: 'refused', reason: 'What was kept was changed since.' },
    ])
  })

  it('ends the undo when it is a defect, or when it was stopped', async () => {
    const tree = changed([{ op: 'write', path: '/a', text: '1' }])
    await expect(undo(tree, { restorer: failing(tree, new TypeError('bug')) })).rejects.toThrow('bug')
    const signal = AbortSignal.abort(new ToolError('ABORTED', 'Stopped.'))
    await expect(undo(tree, { signal })).rejects.toThrow('Stopped.')
  })
})

it('says why a change cannot be undone, unless it never happened', async () => {
  const tree = changed([{ op: 'write', path: '/a', text: '1' }])
  const changes = tree.changes.map((taken) => ({ ...taken, change: { ...taken.change, notUndoable: 'too large' } }))
  const judged: boolean[] = []
  const onJudged = (_: TakenChange, isUndone: boolean) => judged.push(isUndone)
  expect(await undo(tree, { onJudged }, changes)).toMatchObject([{ action: 'not undoable', reason: 'too large' }])
  expect(judged).toEqual([false])
  tree.set('/a', 'old')
  expect(await undo(tree, {}, changes)).toMatchObject([{ action: 'already' }])
})
