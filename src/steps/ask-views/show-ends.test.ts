import { describe, expect, it } from 'vitest'
import { showEnds } from './show-ends.ts'

describe('a text that is shown to whoever is asked', () => {
  it('is shown whole up to 8,000 characters', () => {
    const text = 'x'.repeat(8_000)
    expect(showEnds(text)).toBe(text)
  })

  it('is shown by its ends where it is longer, with how much is missing', () => {
    const text = `${'a'.repeat(4_000)}b${'c'.repeat(4_000)}`
    expect(showEnds(text)).toBe(
      `${'a'.repeat(4_000)}\n… 1 characters in between are not shown …\n…${'c'.repeat(4_000)}`,
    )
  })

  it('marks a line that is shown in part, and only such a line', () => {
    const end = (between: string) =>
      showEnds(`${'a'.repeat(4_000)}${between}${'c'.repeat(4_000)}`)
        .split('\n')
        .at(-1)!
    expect([end('b\n')[0], end('\nb')[0]]).toEqual(['c', '…'])
  })
})
