import { describe, expect, it } from 'vitest'
import type { CommandRequest } from '../../../contracts/commands.ts'
import { checkRequest } from './check-request.ts'

const request = (parts: object) => ({ timeoutMs: 1_000, ...parts }) as CommandRequest

describe('the check of a request', () => {
  it.each([
    ['no command at all', {}, /either argv/],
    ['both forms', { argv: ['ls'], command: 'ls' }, /either argv/],
    ['no words', { argv: [] }, /at least one word/],
    ['words that are none', { argv: 'ls' }, /list of at least one word/],
    ['a word that is no text', { argv: ['ls', 7] }, /Word 2 of argv is no text/],
    ['an empty program', { argv: ['', 'x'] }, /first word of argv is empty/],
    ['NUL in a word', { argv: ['ls', 'a\0b'] }, /Word 2 of argv has a NUL/],
    ['NUL in a line', { command: 'ls\0rm' }, /The command has a NUL/],
    ['NUL in a variable', { command: 'ls', env: { A: 'x\0' } }, /The variable "A" has a NUL/],
    ['half a character', { argv: ['ls', '\ud800'] }, /half a character/],
    ['an empty line', { command: ' \n' }, /The command is empty/],
    ['a word that is too long', { argv: ['ls', 'x'.repeat(131_072)] }, /131072 bytes, the limit is 131071/],
    ['a line that is too long', { command: 'ä'.repeat(70_000) }, /140000 bytes, the limit is 131071/],
    ['too much in all', { argv: Array(20).fill('x'.repeat(100_000)) }, /the limit is 1048576/],
    ['stdin that is no text', { command: 'cat', stdin: 7 }, /stdin is a text/],
    ['no time', { command: 'ls', timeoutMs: 0 }, /no time at all/],
    ['a time that is none', { command: 'ls', timeoutMs: Number.NaN }, /no time at all/],
  ])('refuses %s', (_, parts, message) => {
    expect(() => checkRequest(request(parts))).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringMatching(message) }),
    )
  })

  it('counts words and variables together, up to 1 MiB', () => {
    const words = Array(7).fill('x'.repeat(131_071))
    const ofBytes = (bytes: number) =>
      request({ argv: [...words, 'x'.repeat(bytes - 7 * 131_072 - 1 - 5)], env: { AB: 'c' } })
    expect(() => checkRequest(ofBytes(1_048_576))).not.toThrow()
    expect(() => checkRequest(ofBytes(1_048_577))).toThrow(
      'Words and variables have 1048577 bytes, the limit is 1048576.',
    )
    const line = (bytes: number) => request({ command: 'ls', env: Object.fromEntries(big(bytes - 3)) })
    expect(() => checkRequest(line(1_048_576))).not.toThrow()
    expect(() => checkRequest(line(1_048_577))).toThrow(/have 1048577 bytes/)
  })

  it('says what to do with a long text, and shortens a long name', () => {
    expect(() => checkRequest(request({ argv: ['ls', 'x'.repeat(131_072)] }))).toThrow(
      expect.objectContaining({
        fix: expect.objectContaining({ hint: 'Write long text to a file, or give it as stdin.' }),
      }),
    )
    const name = 'n'.repeat(101)
    expect(() => checkRequest(request({ command: 'ls', env: { [name]: '\0' } }))).toThrow(
      `The variable "${'n'.repeat(100)}" has a NUL character`,
    )
    expect(() => checkRequest(request({ command: 'ls', timeoutMs: -1 }))).toThrow('timeoutMs is -1')
  })

  it('takes what a system can start', () => {
    checkRequest(request({ argv: ['ls', '', 'a\nb', '\u202e', 'x'.repeat(131_071)] }))
    checkRequest(request({ command: 'echo "a\nb"', env: { A: '' }, stdin: '\0' }))
  })
})

/** Variables that take so many bytes in all, each with its sign and its end. */
function big(bytes: number): [string, string][] {
  const whole = Array.from({ length: 10 }, (_, at): [string, string] => [`V${at}`, 'x'.repeat(99_996)])
  return [...whole, ['V', 'x'.repeat(bytes - 10 * 100_000 - 3)]]
}
