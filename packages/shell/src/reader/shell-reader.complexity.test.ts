import { describe, expect, it } from 'vitest'
import { findComplexity } from './shell-reader.ts'

describe('a text is read up to', () => {
  it.each([
    { what: '65,536 characters', most: 'x'.repeat(65_536), more: 'x', says: /65537 characters.* 65536$/ },
    { what: '50 here-documents', most: 'cat <<E;'.repeat(50), more: '<<', says: /more than 50 here-documents/ },
    { what: '500 backticks', most: '`'.repeat(500), more: '`', says: /more than 500 backticks/ },
    { what: '1,000 brackets', most: '()'.repeat(1_000), more: '(', says: /\( more than 1000 times/ },
    { what: '1,000 braces', most: '{}'.repeat(1_000), more: '{', says: /\{ more than 1000 times/ },
    { what: 'brackets 40 deep', most: '('.repeat(40), more: '(', says: /\( more than 40 deep/ },
    { what: 'braces 40 deep', most: '{'.repeat(40), more: '{', says: /\{ more than 40 deep/ },
  ])('$what', ({ most, more, says }) => {
    expect(findComplexity(most)).toBeUndefined()
    expect(findComplexity(most + more)).toMatch(says)
    // What was read before changes nothing.
    expect(findComplexity(most)).toBeUndefined()
  })

  it('depth, which ends where brackets close and never falls below none', () => {
    expect(findComplexity(`${'('.repeat(39)}${'()'.repeat(50)}`)).toBeUndefined()
    expect(findComplexity(`${')'.repeat(50)}${'('.repeat(41)}`)).toMatch(/40 deep/)
  })
})
