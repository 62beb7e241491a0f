import { describe, expect, it } from 'vitest'
import { mergePage } from './merge-page.ts'

const item = (id: string, at: number, words = id) => ({ id, at, words })
const compare = (a: { at: number }, b: { at: number }) => b.at - a.at
const known = [item('c', 3), item('b', 2), item('a', 1)]
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).join(' ')

describe('a list that is loaded page by page', () => {
  it('takes new ones in at the top, keeps older pages, and leaves out what has gone', () => {
    const page = { items: [item('d', 4), item('b', 2)], isLast: false }
    expect(idsOf(mergePage(known, page, { compare }))).toBe('d b a')
  })

  it('has nothing beyond the last page', () => {
    expect(idsOf(mergePage(known, { items: [item('b', 2)], isLast: true }, { compare }))).toBe('b')
    expect(idsOf(mergePage(known, { items: [], isLast: true }, { compare }))).toBe('')
  })

  it('keeps what has gone in sight where that is wanted', () => {
    const page = { items: [item('d', 4)], isLast: true }
    expect(idsOf(mergePage(known, page, { compare, keepsGone: true }))).toBe('d c b a')
  })

  it('takes over what has changed', () => {
    const [first] = mergePage(known, { items: [item('c', 3, 'new')], isLast: false }, { compare })
    expect(first).toEqual(item('c', 3, 'new'))
  })
})
