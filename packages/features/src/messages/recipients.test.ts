import { describe, expect, it } from 'vitest'
import { checkRecipients } from './recipients.ts'

const recipients = { most: 2, usual: ['ops@x.org'], admits: (name: string) => name.includes('a'), hint: '*a*' }

describe('the recipients of a message', () => {
  it('are those it names, or those that the owner has set, or none', () => {
    expect(checkRecipients(['anna', 'clara'], recipients, 'mail')).toEqual(['anna', 'clara'])
    expect(checkRecipients([], recipients, 'mail')).toEqual(['ops@x.org'])
    expect(checkRecipients([], undefined, 'mail')).toEqual([])
  })

  it.each([
    [['anna'], undefined, 'The channel mail has no recipients to choose from.', 'Leave out to.'],
    [
      [],
      { ...recipients, usual: [] },
      'A message to the channel mail needs a recipient.',
      'Give to; the owner admits *a*.',
    ],
    [['a', 'b', 'c'], recipients, 'The message names 3 recipients; the channel mail takes 2.', 'Split it.'],
  ])('%j are refused', (named, known, message, hint) => {
    expect(() => checkRecipients(named, known, 'mail')).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint } }),
    )
  })

  it('may have 320 characters', () => {
    expect(checkRecipients(['a'.repeat(320)], recipients, 'mail')).toHaveLength(1)
  })

  it.each<[string, recipient: string, shown: string]>([
    ['one that the owner does not admit', 'bob', '"bob"'],
    ['an empty one', '', '""'],
    ['one with 321 characters', 'a'.repeat(321), `"${'a'.repeat(100)}"`],
    ...[',', ';', '/', '<', '>', '"', "'", '\\', ' ', '\n', '\u202e'].map((sign): [string, string, string] => [
      `one with ${JSON.stringify(sign)}`,
      `a${sign}a`,
      JSON.stringify(`a${sign}a`),
    ]),
  ])('are not %s', (_, recipient, shown) => {
    expect(() => checkRecipients(['anna', recipient], recipients, 'mail')).toThrow(
      expect.objectContaining({
        code: 'POLICY_DENIED',
        message: `The channel mail may not write to ${shown}.`,
        fix: { key: 'messages', hint: 'The owner admits *a*.' },
      }),
    )
  })
})
