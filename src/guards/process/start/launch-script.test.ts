import { spawn } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noJail, workspace } from '../../../../test/support/made-jails.ts'
import { descriptorsFor, launchScript } from './launch-script.ts'

/** Runs the script as a jail's shell does, and gives what came out. */
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
        const order = { jail: noJail(), words: ['sh', '-c', line, 'sh', ...words], cwd, env, pty: false }
        const { out, report } = await runBy(shell, launchScript(order))
        await rm(cwd, { recursive: true })
        const parts = out.split('\0').slice(0, -1)
        const variables = new Map(
          parts.slice(words.length).map((part) => [nameOf(part), part.slice(nameOf(part).length + 1)]),
        )
        expect({ words: parts.slice(0, words.length), report }).toEqual({ words, report: 'going\n' })
        for (const [key, value] of Object.entries(env)) expect(variables.get(key)).toBe(value)
        expect(variables.get('PWD')).toBe(cwd)
        expect(variables.has('OLDPWD')).toBe(false)
      },
    )
    await fc.assert(property, { numRuns: 40 })
  })

  it('may be long', async () => {
    const long = `${"'$\n".repeat(30_000)}end`
    const order = { jail: noJail(), words: ['printf', '%s', long], cwd: '/', env: { LONG: long }, pty: false }
    expect((await runBy(shell, launchScript(order))).out).toBe(long)
  })

  it('says what is wrong with the program on the report line', async () => {
    const said = async (program: string, cwd = '/') =>
      (await runBy(shell, launchScript({ jail: noJail(), words: [program], cwd, env: {}, pty: false }))).report
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
