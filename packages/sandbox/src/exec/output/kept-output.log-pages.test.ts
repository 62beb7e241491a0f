import { describe, expect, it } from 'vitest'
import { LogPages } from './kept-output.ts'

function logOf(text: string) {
  let bytes = Buffer.from(text)
  let read = 0
  const pages = new LogPages({
    size: () => bytes.length,
    async read(offset, length) {
      read += length
      return bytes.subarray(offset, offset + length)
    },
    linesBefore: 0,
  })
  const grow = (more: string) => {
    bytes = Buffer.concat([bytes, Buffer.from(more)])
  }
  return { pages, grow, readBytes: () => read }
}

describe('pages of a log', () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index + 1} ${'ä'.repeat(index % 7)}`)

  it('finds any line by its number, and the last ones without one', async () => {
    const { pages } = logOf(`${lines.join('\n')}\n`)
    for (const offset of [1, 2, 777, 5_000, 12_345, 29_990]) {
      const page = await pages.page({ offset, limit: 5 })
      expect(page).toEqual({
        text: `${lines.slice(offset - 1, offset + 4).join('\n')}\n`,
        from: offset,
        to: offset + 4,
        totalLines: 30_000,
      })
    }
    expect(await pages.page({ limit: 2 })).toMatchObject({ from: 29_999, to: 30_000 })
    expect(await pages.page({ offset: 30_001 })).toEqual({ text: '', from: 30_001, to: 30_000, totalLines: 30_000 })
    expect(await pages.page({ offset: -5, limit: 1 })).toMatchObject({ from: 1, to: 1 })
    expect(await pages.page({ offset: Number.NaN, limit: 0 })).toMatchObject({ from: 1, to: 1 })
  })

  it('leads through all of it page by page, whole lines within 50 KB', async () => {
    const { pages } = logOf(lines.join('\n'))
    let text = ''
    for (let offset = 1; ; ) {
      const page = await pages.page({ offset })
      if (page.to < page.from) break
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(50 * 1024)
      text += page.text
      offset = page.to + 1
    }
    expect(text).toBe(lines.join('\n'))
  })

  it('looks at each byte once while the log grows', async () => {
    const { pages, grow, readBytes } = logOf('first\nsecond without an end')
    expect(await pages.page()).toMatchObject({ from: 1, to: 2, totalLines: 2 })
    grow(', now ended\n')
    expect(await pages.page({ offset: 2 })).toMatchObject({ text: 'second without an end, now ended\n', totalLines: 2 })
    grow('x'.repeat(1_000_000))
    await Promise.all([pages.page({ offset: 1, limit: 1 }), pages.page({ offset: 1, limit: 1 })])
    expect(readBytes()).toBeLessThan(1_400_000)
  })

  it('shows the beginning of a line that is too long, and says so', async () => {
    const { pages } = logOf(`${'€'.repeat(100_000)}\nnext\n`)
    const page = await pages.page({ offset: 1, limit: 10 })
    expect(page).toMatchObject({ from: 1, to: 1, totalLines: 2 })
    expect(page.text).toMatch(/^€+ … \[the line continues; only its first 51200 bytes are shown\]\n$/)
    expect(await pages.page({ offset: 2 })).toMatchObject({ text: 'next\n', from: 2, to: 2 })
  })

  it('numbers lines after those that are gone', async () => {
    const bytes = Buffer.from('six\nseven\neight')
    const pages = new LogPages({
      size: () => bytes.length,
      read: async (offset, length) => bytes.subarray(offset, offset + length),
      linesBefore: 5,
    })
    expect(await pages.page()).toEqual({ text: 'six\nseven\neight', from: 6, to: 8, totalLines: 8 })
    expect(await pages.page({ offset: 1, limit: 1 })).toEqual({ text: 'six\n', from: 6, to: 6, totalLines: 8 })
    expect(await pages.page({ offset: 8 })).toEqual({ text: 'eight', from: 8, to: 8, totalLines: 8 })
    expect(await pages.page({ offset: 9 })).toEqual({ text: '', from: 9, to: 8, totalLines: 8 })
    expect(await pages.page({ offset: 99 })).toEqual({ text: '', from: 9, to: 8, totalLines: 8 })
    expect(await pages.page({ offset: 7.9, limit: 1.9 })).toMatchObject({ text: 'seven\n', from: 7 })
  })

  it('has at most 2000 lines in a page', async () => {
    const { pages } = logOf('x\n'.repeat(3_000))
    expect(await pages.page({ offset: 1 })).toMatchObject({ from: 1, to: 2_000 })
    expect(await pages.page({ offset: 1, limit: 9_999 })).toMatchObject({ from: 1, to: 2_000 })
    expect(await pages.page()).toMatchObject({ from: 1_001, to: 3_000 })
  })

  it.each([65_534, 65_535, 65_536, 65_537, 131_071, 131_072])('finds the line after %d bytes', async (bytes) => {
    const { pages } = logOf(`${'x'.repeat(bytes - 1)}\nnext\nlast\n`)
    expect(await pages.page({ offset: 2, limit: 1 })).toMatchObject({ text: 'next\n', from: 2, to: 2, totalLines: 3 })
    expect(await pages.page({ offset: 3 })).toMatchObject({ text: 'last\n', from: 3 })
  })

  it.each([51_199, 51_200, 51_201])('shows a line of %d bytes as far as a page goes', async (bytes) => {
    const { pages } = logOf(`${'x'.repeat(bytes - 1)}\n`)
    const { text } = await pages.page({ offset: 1 })
    expect(text.includes('the line continues')).toBe(bytes > 51_200)
    const { pages: open } = logOf('x'.repeat(bytes))
    expect((await open.page({ offset: 1 })).text.includes('the line continues')).toBe(bytes > 51_200)
  })

  it('has nothing to show of an empty log', async () => {
    expect(await logOf('').pages.page()).toEqual({ text: '', from: 1, to: 0, totalLines: 0 })
  })
})
