import { mergeRanks } from '@tool-hub/core/lib'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { embedText } from './backend.ts'

/** The vector that a function gives, and what is said about its failure. */
async function embedding(embed: unknown, signal = new AbortController().signal) {
  const clock = fakeClock()
  const notices: string[] = []
  const options = { host: { clock }, signal, notice: (text: string) => void notices.push(text) }
  const vector = await embedText('a text', { embed: embed as never, timeoutMs: 500 }, options)
  return { vector: vector && [...vector], notices, waiting: clock.waiting }
}
const FAILED = 'The embedding failed, so notes are compared by words only: '

describe('an embedding', () => {
  it('is the vector of the text, of length 1', async () => {
    const asked: unknown[] = []
    const embed = async (texts: readonly string[]) => {
      asked.push(texts)
      return [[3, 4]]
    }
    const { vector, notices, waiting } = await embedding(embed)
    expect(vector?.map((value) => value.toFixed(3))).toEqual(['0.600', '0.800'])
    expect([asked, notices, waiting]).toEqual([[['a text']], [], 0])
    expect((await embedding(() => [new Float32Array([0, 2])])).vector).toEqual([0, 1])
  })

  it('is not looked for without a function', async () => {
    expect(await embedding(undefined)).toEqual({ vector: undefined, notices: [], waiting: 0 })
  })

  it('has 1 to 8,192 numbers', async () => {
    expect((await embedding(() => [[5]])).vector).toEqual([1])
    expect((await embedding(() => [Array(8_192).fill(1)])).vector).toHaveLength(8_192)
  })

  it.each([
    [[], 'embed did not return a vector of 1 to 8192 numbers'],
    [[[]], 'embed did not return a vector of 1 to 8192 numbers'],
    [[Array(8_193).fill(1)], 'embed did not return a vector of 1 to 8192 numbers'],
    [['text'], 'embed did not return a vector of 1 to 8192 numbers'],
    [[[0, 0]], 'embed returned a vector of zeros or of numbers that are not finite'],
    [[[Number.NaN]], 'embed returned a vector of zeros or of numbers that are not finite'],
    [[[Number.POSITIVE_INFINITY]], 'embed returned a vector of zeros or of numbers that are not finite'],
  ])('is none of %j', async (vectors, why) => {
    expect(await embedding(() => vectors)).toEqual({ vector: undefined, notices: [`${FAILED}${why}`], waiting: 0 })
  })

  it('that fails is reported in 200 characters', async () => {
    const { notices } = await embedding(() => Promise.reject(new Error('x'.repeat(201))))
    expect(notices).toEqual([`${FAILED}${'x'.repeat(200)}`])
  })

  it('is stopped with the call, without a word', async () => {
    const stop = new AbortController()
    const embedded = embedding(() => {
      stop.abort(new Error('enough'))
      return new Promise(() => {})
    }, stop.signal)
    await expect(embedded).rejects.toThrow('enough')
  })
})

it('lists are merged by the places of what they hold', () => {
  const merged = mergeRanks(
    [
      ['a', 'b', 'c'],
      ['b', 'd'],
    ],
    (item) => item,
  )
  expect(merged.map(([item, score]) => [item, score.toFixed(6)])).toEqual([
    ['b', (1 / 62 + 1 / 61).toFixed(6)],
    ['a', (1 / 61).toFixed(6)],
    ['d', (1 / 62).toFixed(6)],
    ['c', (1 / 63).toFixed(6)],
  ])
})
