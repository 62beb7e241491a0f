import { describe, expect, it } from 'vitest'
import { lookAtProgram } from './look-at-program.ts'

const look = (line: string) => lookAtProgram(line.split(' '))
const reasonsOf = (line: string) => look(line).hazards.map(({ reason }) => reason)
const UNREADABLE = 'has words whose meaning cannot be told'
const UNLISTED = 'is not known to be harmless'

/** The last that is looked at, and the first that is not. */
describe('the words of a command are looked at up to', () => {
  it('four programs that run the next one', () => {
    expect(reasonsOf(`${'npx '.repeat(4)}ls`)).not.toContain(UNREADABLE)
    expect(reasonsOf(`${'npx '.repeat(5)}ls`)).toContain(UNREADABLE)
  })

  it('32 hazards', () => {
    const options = (count: number) => Array.from({ length: count }, (_, index) => `--x${index}=y`).join(' ')
    expect(look(`go build ${options(32)}`).hazards).toHaveLength(32)
    expect(look(`go build ${options(33)}`).hazards).toHaveLength(32)
  })

  it('60 characters of what is shown', () => {
    const shown = (length: number) => look(`go ${'x'.repeat(length)}`).hazards[0]?.option
    expect(shown(60)).toBe('x'.repeat(60))
    expect(shown(61)).toBe(`${'x'.repeat(60)}…`)
  })

  it('63 letters behind a dash', () => {
    const optionsOf = (letters: number) =>
      look(`sort -${'r'.repeat(letters - 1)}o x`).hazards.map(({ option }) => option)
    expect(optionsOf(63)).toEqual(['-o'])
    expect(optionsOf(64)).toEqual([])
  })

  it('64 letters without a dash', () => {
    const optionsOf = (letters: number) => look(`tar ${'v'.repeat(letters - 1)}x`).hazards.map(({ option }) => option)
    expect(optionsOf(64)).toEqual(['-x'])
    expect(optionsOf(65)).toEqual([])
  })

  it('32 ways to read them', () => {
    const unlisted = (count: number) =>
      `sort ${Array.from({ length: count }, (_, index) => `--zz${index} -r`).join(' ')}`
    expect(reasonsOf(unlisted(4))).toEqual([])
    expect(reasonsOf(unlisted(40))).toEqual([UNREADABLE])
  })
})

it('an option that a closed table lacks is a hazard, a number is none', () => {
  expect(look('go build -zz').hazards).toEqual([{ option: '-zz', kind: 'reach', reason: UNLISTED, at: 2 }])
  expect(reasonsOf('git -5 status')).not.toContain(UNLISTED)
  expect(reasonsOf('git -55 status')).not.toContain(UNLISTED)
  expect(reasonsOf('git -x status')).toContain(UNLISTED)
})
