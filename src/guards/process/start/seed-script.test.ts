import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { descriptorsFor } from './launch-script.ts'
import { becomeScript, enterScript } from './seed-script.ts'

const PRINTER = ['-c', 'for v; do printf "%s\\0" "$v"; done; cat', 'sh']
const at = descriptorsFor({})

/** What a program gets that a seed has become: its words, and what it reads. */
async function got(shell: readonly string[], args: readonly string[]) {
  const stdio = new Array<'pipe'>(at.script + 1).fill('pipe')
  const child = spawn(shell[0]!, shell.slice(1), { stdio, env: { PATH: '/usr/bin:/bin' } })
  child.stdin!.end(becomeScript({ file: '/bin/sh', args: [...PRINTER, ...args] }, at))
  ;(child.stdio[at.script] as typeof child.stdin)!.end('to the inner')
  const parts = (await text(child.stdout!)).split('\0')
  return { args: parts.slice(0, -2), last: parts.slice(-2) }
}

describe.each([['/bin/sh'], ['/bin/bash', '--posix']])('a seed of %s', (...shell) => {
  it('becomes exactly what it was told to, and swallows nothing of what is for the shell inside', async () => {
    const nasty = fc.constantFrom("'", '"', '\\', '$(id)', '`', '\n', '\r', ' ', '-', '!', '*', '#', '\x81', '€', '𝄞')
    const word = fc
      .array(fc.oneof(nasty, fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 10 })
      .map((parts) => parts.join('').replaceAll('\0', ''))
    const property = fc.asyncProperty(fc.array(word, { maxLength: 8 }), async (args) => {
      expect(await got(shell, args)).toEqual({ args, last: ['/bin/sh', 'to the inner'] })
    })
    await fc.assert(property, { numRuns: 20 })
  })

  it('may be told much', async () => {
    const args = [`${"'$\n".repeat(30_000)}end`, 'x'.repeat(100_000), ...new Array<string>(2_000).fill('--ro-bind')]
    expect(await got(shell, args)).toEqual({ args, last: ['/bin/sh', 'to the inner'] })
  })
})

it('is refused NUL', () => {
  expect(() => becomeScript({ file: '/bin/x', args: ['a\0b'] }, at)).toThrow('NUL')
})

it('enters each of its groups, and goes on where it cannot', () => {
  expect(enterScript([])).toBe('')
  expect(enterScript(['/a', "/b'c"])).toBe(`{ echo 0 >'/a'; } 2>/dev/null\n{ echo 0 >'/b'\\''c'; } 2>/dev/null\n`)
})
