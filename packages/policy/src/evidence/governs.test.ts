import { expect, it } from 'vitest'
import { mayBeTarget } from './governs.ts'

const address = { things: new Set<string>(), role: undefined, isName: false, isMail: true, isNumber: false }
const mayGetIt = (before: string) => mayBeTarget([before, '.'], { ...address, isRead: false, isCjk: false })

it('takes an address behind a word for its source, and not behind one that only begins so', () => {
  for (const word of ['from', 'by', 'about', 'von', 'de', 'par'])
    expect(mayGetIt(`Send the letter ${word} `)).toBe(false)
  for (const word of ['to', 'partner', 'department', 'bystander'])
    expect(mayGetIt(`Send it to the ${word} `)).toBe(true)
})
