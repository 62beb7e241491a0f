import { spawn } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noSandbox, workspace } from '../../../../../test/support/made-sandboxes.ts'
import {
  becomeScript,
  descriptorsFor,
  helperScript,
  joinScript,
  launchScript,
  readyScript,
  shellQuote,
} from './shell-scripts.ts'

/** Runs the script as a sandbox's shell does, and gives what came out. */
async function runBy(shell: readonly string[], script: string) {
  const child = spawn(shell[0]!, shell.slice(1), {
    stdio: ['pipe', 'ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin' },
  })
  child.stdin!.on('error', () => {})
  child.stdin!.end(script)
  const [, , , , stdout, stderr, line] = child.stdio as unknown as Readable[]
  const [out, , report] = await Promise.all([stdout!, stderr!, line!].map((stream) => text(stream)))
  return { out: out!, report: report! }
}

/** What makes shells stumble, mixed into any text. */
const nasty = fc.constantFrom(
  "'",
  '"',
  '\\',
  '$',
  '`',
  '\n',
  '\r',
  ' ',
  '-',
  '!',
  '*',
  '~',
  '#',
  ';',
  '&',
  '\x7f',
  '\x81',
  'é',
  '€',
  '𝄞',
)
const word = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.join('').replaceAll('\0', ''))
  .map(wellFormed)
const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/).map((rest) => `V_${rest}`)
const folderName = word.map((name) => wellFormed(`d${name.replaceAll('/', '')}`.slice(0, 40)))

const SHELLS = [['/bin/sh'], ['/bin/bash', '--posix']]

describe.each(SHELLS)('what is said to %s', (...shell) => {
  it('comes out as it went in: words, variables and folder, byte by byte', async () => {
    const above = await workspace()
    const property = fc.asyncProperty(
      fc.array(word, { maxLength: 6 }),
      fc.dictionary(name, word, { maxKeys: 4, noNullPrototype: true }),
      folderName,
      async (words, env, folder) => {
        const cwd = join(above, folder)
        await mkdir(cwd)
        const line = 'for v; do printf "%s\\0" "$v"; done; env -0'
        const order = { sandbox: noSandbox(), words: ['sh', '-c', line, 'sh', ...words], cwd, env, pty: false }
        const { out, report } = await runBy(shell, launchScript(order))
        await rm(cwd, { recursive: true })
        const parts = out.split('\0').slice(0, -1)
        const variables = new Map(
          parts.slice(words.length).map((part) => [nameOf(part), part.slice(nameOf(part).length + 1)]),
        )
        expect({ words: parts.slice(0, words.length), report }).toEqual({ words, report: 'starting\n' })
        for (const [key, value] of Object.entries(env)) expect(variables.get(key)).toBe(value)
        expect(variables.get('PWD')).toBe(cwd)
        expect(variables.has('OLDPWD')).toBe(false)
      },
    )
    await fc.assert(property, { numRuns: 40 })
  })

  it('may be long', async () => {
    const long = `${"'$\n".repeat(30_000)}end`
    const order = { sandbox: noSandbox(), words: ['printf', '%s', long], cwd: '/', env: { LONG: long }, pty: false }
    expect((await runBy(shell, launchScript(order))).out).toBe(long)
  })

  it('says what is wrong with the program on the report line', async () => {
    const said = async (program: string, cwd = '/') =>
      (await runBy(shell, launchScript({ sandbox: noSandbox(), words: [program], cwd, env: {}, pty: false }))).report
    expect(await said('no-such-program')).toBe('missing\n')
    expect(await said('/etc')).toBe('directory\n')
    expect(await said('/etc/passwd')).toBe('denied\n')
    expect(await said('true', '/no/such/folder')).toBe('cwd\n')
  })
})

it('leaves the descriptor of the filter alone', () => {
  expect(Object.values(descriptorsFor({ seccomp: { fd: 3 } }))).toEqual([4, 5, 6, 7, 8])
  expect(Object.values(descriptorsFor({ seccomp: { fd: 9 } }))).toEqual([3, 4, 5, 6, 7])
})

/** Halves of characters become what they are in UTF-8 anyway. */
function wellFormed(some: string): string {
  return Buffer.from(some).toString()
}

function nameOf(variable: string): string {
  return variable.slice(0, variable.indexOf('='))
}

describe('the text for a shell', () => {
  const order = { sandbox: noSandbox(), words: ['x'], cwd: '/', env: {}, pty: false }

  it.each(['', '1A', 'A-B', 'A B', 'A\n', '=A', 'A=', 'Ä'])('has no variable named %j', (name) => {
    expect(() => launchScript({ ...order, env: { [name]: 'x' } })).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: `Invalid name of an environment variable: ${JSON.stringify(name)}.`,
        fix: expect.objectContaining({
          hint: 'Names consist of letters, digits and _, and do not begin with a digit.',
        }),
      }),
    )
  })

  it('has no NUL in any word', () => {
    expect(() => launchScript({ ...order, words: ['x', 'a\0'] })).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: 'A word of the command contains a NUL character, which no program can receive.',
      }),
    )
    expect(shellQuote("it's")).toBe(`'it'\\''s'`)
  })

  it('runs a command on a terminal by script, with the shell that it had', () => {
    const line = (parts: object) =>
      launchScript({ ...order, words: ['top', 'a b'], pty: true, ...parts })
        .split('\n')
        .at(-2)
    const moved = `'/dev/null' <&3 >&4 2>&4 3<&- 4>&- 5>&- 6>&- 7>&-`
    const asked = (shell: string) =>
      `exec 'script' '-q' '-e' '-f' '-c' ${shellQuote(`${shell}; stty rows 24 cols 80 2>/dev/null; exec 'top' 'a b'`)} ${moved}`
    expect(line({})).toBe(asked('unset SHELL'))
    expect(line({ env: { SHELL: '/bin/zsh' } })).toBe(asked("SHELL='/bin/zsh'"))
    expect(line({ sandbox: { ...noSandbox(), env: { SHELL: '/bin/bash' } } })).toBe(asked("SHELL='/bin/bash'"))
  })

  it('starts a helper that is not a child of the command', () => {
    expect(helperScript(noSandbox())).toBeUndefined()
    expect(helperScript({ ...noSandbox(), helper: ['a', "b'"] })).toBe(
      `( ( 'a' 'b'\\'''; echo ) </dev/null 2>/dev/null 3<&- 4>&- 5>&- 6>&- & )\n`,
    )
    expect(readyScript(descriptorsFor({}))).toBe('echo ready >&6\n')
  })
})

const PRINTER = ['-c', 'for v; do printf "%s\\0" "$v"; done; cat', 'sh']
const at = descriptorsFor({})

/** What a program gets that a prewarmed process has become: its words, and what it reads. */
async function got(shell: readonly string[], args: readonly string[]) {
  const stdio = new Array<'pipe'>(at.script + 1).fill('pipe')
  const child = spawn(shell[0]!, shell.slice(1), { stdio, env: { PATH: '/usr/bin:/bin' } })
  child.stdin!.end(becomeScript({ file: '/bin/sh', args: [...PRINTER, ...args] }, at))
  ;(child.stdio[at.script] as typeof child.stdin)!.end('to the inner')
  const parts = (await text(child.stdout!)).split('\0')
  return { args: parts.slice(0, -2), last: parts.slice(-2) }
}

describe.each([['/bin/sh'], ['/bin/bash', '--posix']])('a prewarmed process of %s', (...shell) => {
  it('becomes exactly the requested program, and swallows nothing that is meant for the inner shell', async () => {
    const nasty = fc.constantFrom("'", '"', '\\', '$(id)', '`', '\n', '\r', ' ', '-', '!', '*', '#', '\x81', '€', '𝄞')
    const word = fc
      .array(fc.oneof(nasty, fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 10 })
      .map((parts) => parts.join('').replaceAll('\0', ''))
    const property = fc.asyncProperty(fc.array(word, { maxLength: 8 }), async (args) => {
      expect(await got(shell, args)).toEqual({ args, last: ['/bin/sh', 'to the inner'] })
    })
    await fc.assert(property, { numRuns: 20 })
  })

  it('accepts long arguments', async () => {
    const args = [`${"'$\n".repeat(30_000)}end`, 'x'.repeat(100_000), ...new Array<string>(2_000).fill('--ro-bind')]
    expect(await got(shell, args)).toEqual({ args, last: ['/bin/sh', 'to the inner'] })
  })
})

it('refuses NUL', () => {
  expect(() => becomeScript({ file: '/bin/x', args: ['a\0b'] }, at)).toThrow('NUL')
})

it('joins each of its cgroups, and continues if it cannot', () => {
  expect(joinScript([])).toBe('')
  expect(joinScript(['/a', "/b'c"])).toBe(`{ echo 0 >'/a'; } 2>/dev/null\n{ echo 0 >'/b'\\''c'; } 2>/dev/null\n`)
})
