import { rm } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { runsFolder, standingClock, TestDisk } from '../../../../../test/support/record-run.ts'
import type { StoredHead } from '../../../../core/src/store.ts'
import { HeadKeeper } from './head-keeper.ts'
import { RunRecords } from './run-records.ts'

const continues = { seq: 3, hash: 'h3' }

/** A run of which lines are appended by hand, and a store that refuses while it is `down`. */
function keep() {
  const { clock, pass } = standingClock()
  const kept: unknown[] = []
  const problems: string[] = []
  const state = { seq: 4, isDown: false, whileSyncing: () => {} }
  const heads = {
    put(head: StoredHead, before: unknown) {
      if (state.isDown) throw new Error('down')
      kept.push({ seq: head.seq, hash: head.hash, at: head.at, before })
    },
  }
  const keeper = new HeadKeeper(heads, {
    run: 'r',
    opening: 'o',
    continues,
    clock,
    synced: async () => state.whileSyncing(),
    last: () => ({ seq: state.seq, hash: `h${state.seq}` }),
    onProblem: ({ message }) => problems.push(message),
  })
  const after = async (ms: number) => {
    pass(ms)
    await nextTurn()
  }
  return { keeper, kept, problems, state, after }
}

it('keeps the head two seconds after a line, once for all lines until then', async () => {
  const { keeper, kept, state, after } = keep()
  keeper.request()
  await after(1_000)
  state.seq = 6
  keeper.request()
  await after(999)
  expect(kept).toEqual([])
  await after(1)
  expect(kept).toEqual([{ seq: 6, hash: 'h6', at: 2_000, before: continues }])
  await after(10_000)
  expect(kept).toHaveLength(1)
  keeper.request()
  await after(2_000)
  expect(kept).toHaveLength(2)
})

it('keeps only what was durable, and the rest two seconds later', async () => {
  const { keeper, kept, state, after } = keep()
  state.whileSyncing = () => {
    state.seq = 9
  }
  keeper.request()
  await after(2_000)
  expect(kept).toMatchObject([{ seq: 4, hash: 'h4' }])
  await after(2_000)
  expect(kept).toMatchObject([{ seq: 4 }, { seq: 9, hash: 'h9' }])
})

it('tells once that the store refuses, and tries again', async () => {
  const { keeper, kept, problems, state, after } = keep()
  state.isDown = true
  keeper.request()
  for (let time = 0; time < 3; time++) await after(2_000)
  expect(problems).toEqual([expect.stringContaining('The store does not take the head of run r')])
  state.isDown = false
  await after(2_000)
  expect(kept).toMatchObject([{ seq: 4 }])
  state.isDown = true
  keeper.request()
  await after(2_000)
  expect(problems).toHaveLength(2)
})

it('keeps the last head when the run is closed, and nothing after that', async () => {
  const { keeper, kept, state, after } = keep()
  keeper.request()
  state.seq = 8
  await keeper.close()
  expect(kept).toMatchObject([{ seq: 8, hash: 'h8' }])
  keeper.request()
  await after(10_000)
  expect(kept).toHaveLength(1)
  const stopped = keep()
  stopped.keeper.request()
  stopped.keeper.stop()
  await stopped.after(10_000)
  expect(stopped.kept).toEqual([])
})

it('takes no line of a run that was stopped before it grew', async () => {
  const { keeper, kept, after } = keep()
  keeper.stop()
  keeper.request()
  await after(10_000)
  expect(kept).toEqual([])
})

it('keeps the run, its opening and the time of the head, behind all other work', async () => {
  const kept: unknown[] = []
  const timers: unknown[] = []
  const problems: unknown[] = []
  const clock = {
    now: () => 7,
    after: (ms: number, run: () => void, options: unknown) => {
      timers.push({ ms, options })
      return run
    },
  }
  const last = () => ({ seq: 4, hash: 'h4' })
  const run = { run: 'r', opening: 'o', continues, clock, synced: async () => {}, last }
  const heads = { put: (...head: unknown[]) => void kept.push(head) }
  const keeper = new HeadKeeper(heads, { ...run, onProblem: (error) => problems.push(error) })
  keeper.request()
  keeper.request()
  expect(timers).toEqual([{ ms: 2_000, options: { background: true } }])
  await keeper.close()
  expect(kept.at(-1)).toEqual([{ run: 'r', opening: 'o', seq: 4, hash: 'h4', at: 7 }, continues])
  const cause = new Error('disk')
  const synced = () => Promise.reject(cause)
  await new HeadKeeper(heads, { ...run, synced, onProblem: (error) => problems.push(error) }).close()
  expect(problems).toMatchObject([
    {
      code: 'RECORDS_UNAVAILABLE',
      message: 'The store does not take the head of run r, so that its end cannot be proven: disk',
      fix: { hint: 'See tool-hub doctor for the state of the store.' },
      cause,
    },
  ])
})

it('is not left behind by a run that cannot be opened', async () => {
  const root = await runsFolder()
  const { clock, pass } = standingClock()
  const problems: string[] = []
  const disk = new TestDisk({ left: 0 })
  const onProblem = ({ message }: Error) => problems.push(message)
  const heads = { put: () => void problems.push('kept the head') }
  expect(() => RunRecords.open(root, 'r', { durability: 'effects', clock, disk, heads, onProblem })).toThrow('ENOSPC')
  pass(2_000)
  await nextTurn()
  expect(problems.filter((problem) => problem.includes('the head'))).toEqual([])
  await rm(root, { recursive: true })
})
