import { expect, it } from 'vitest'
import type { RunHistory } from '../../records/undo/read-history.ts'
import { UndoneMarks } from './find-changes.ts'

/** Calls of one run, each with one change and the change that it took back. */
function marksOf(calls: Readonly<Record<string, { readonly seq: number; readonly takes?: number }>>): UndoneMarks {
  const entries = Object.entries(calls)
  const change = { op: 'make-folder', path: '/a' } as const
  const history: RunHistory = {
    changes: entries.map(([callId, { seq }]) => ({ run: 'r', seq, time: '', callId, tool: 't', change })),
    undone: entries.flatMap(([by, { takes }]) => (takes === undefined ? [] : [{ run: 'r', seq: takes, by }])),
  }
  const marks = new UndoneMarks()
  marks.add(history)
  return marks
}

const isUndone = (marks: UndoneMarks, seq: number, except?: ReadonlySet<string>) =>
  marks.isUndone({ run: 'r', seq }, except)

it('follows undos of undos', () => {
  const one = { call: { seq: 1 }, undo: { seq: 2, takes: 1 } }
  expect(isUndone(marksOf(one), 1)).toBe(true)
  const two = { ...one, redo: { seq: 3, takes: 2 } }
  expect(isUndone(marksOf(two), 1)).toBe(false)
  expect(isUndone(marksOf(two), 2)).toBe(true)
  expect(isUndone(marksOf({ ...two, again: { seq: 4, takes: 3 } }), 1)).toBe(true)
})

it('leaves out what undos did that are about to be undone', () => {
  const marks = marksOf({ call: { seq: 1 }, undo: { seq: 2, takes: 1 } })
  expect(isUndone(marks, 1, new Set(['undo']))).toBe(false)
})

it('knows changes by their run, and ends on a record that goes in circles', () => {
  expect(marksOf({ call: { seq: 1 }, undo: { seq: 2, takes: 1 } }).isUndone({ run: 'other', seq: 1 })).toBe(false)
  expect(isUndone(marksOf({ a: { seq: 1, takes: 2 }, b: { seq: 2, takes: 1 } }), 1)).toBe(false)
})
