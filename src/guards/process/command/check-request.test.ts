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

  it('takes what a system can start', () => {
    checkRequest(request({ argv: ['ls', '', 'a\nb', '\u202e', 'x'.repeat(131_071)] }))
    checkRequest(request({ command: 'echo "a\nb"', env: { A: '' }, stdin: '\0' }))
  })
})
