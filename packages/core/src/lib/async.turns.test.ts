import { expect, it } from 'vitest'
import { turnFor, turnToBegin } from './async.ts'

const LARGE = 1_000_000

/** Begins work of these principals and returns whose work started, each with the turn of the event loop. */
async function order(...pieces: readonly (Promise<string> | undefined)[]): Promise<[string, number][]> {
  const started: [string, number][] = []
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(pieces.map((piece) => piece?.then((name) => started.push([name, turn]))))
  isOver = true
  return started
}

const large = (name: string, principal?: string) => turnFor(LARGE, principal)!.then(() => name)
const small = (name: string, principal: string) => turnToBegin(10, principal)?.then(() => name)

/** Until the turn begins in which nothing was started. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}

it('continues immediately with small values', () => {
  expect(turnFor(1_000, 'a')).toBeUndefined()
})

it('starts one large piece of work in a turn of the event loop, in order', async () => {
  const started = await order(large('a'), large('b'), large('c'))
  expect(started.map(([name]) => name)).toEqual(['a', 'b', 'c'])
  expect(new Set(started.map(([, at]) => at)).size).toBe(3)
})

it('lets principals take turns, and keeps the order of each', async () => {
  const started = await order(large('a1', 'a'), large('a2', 'a'), large('a3', 'a'), large('b1', 'b'), large('b2', 'b'))
  expect(started.map(([name]) => name)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
})

it('begins a number of small calls in one turn, and the others in the next ones', async () => {
  await quiet()
  const begun = Array.from({ length: 200 }, (_, index) => small(`a${index}`, 'a'))
  expect(begun.findIndex((waiting) => waiting !== undefined)).toBe(64)
  const started = await order(...begun, small('b', 'b'))
  expect(started.findIndex(([name]) => name === 'b')).toBe(1)
  expect(started.map(([name]) => name).filter((name) => name !== 'b')).toEqual(
    Array.from({ length: 136 }, (_, index) => `a${index + 64}`),
  )
  expect(new Set(started.map(([, at]) => at)).size).toBe(3)
})

it('does not let a small call overtake a large one of the same principal', async () => {
  await quiet()
  const started = await order(large('first', 'a'), small('second', 'a'))
  expect(started.map(([name]) => name)).toEqual(['first', 'second'])
})

it('lets the owner begin any number of small calls while others wait', async () => {
  const waiting = large('a', 'a')
  expect(Array.from({ length: 200 }, () => turnToBegin(10, undefined)).every((each) => each === undefined)).toBe(true)
  await waiting
})
