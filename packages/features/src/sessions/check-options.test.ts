import { describe, expect, it } from 'vitest'
import { checkSessionsOptions } from './create-sessions.ts'
import { cutText } from './live-session.ts'
import { fillEnv } from './run-command.ts'
import type { SessionsOptions } from './runner.ts'
import { readCursor } from './session-handle.ts'

const run = async () => ''
const check = (options: object) => checkSessionsOptions(options as SessionsOptions)

describe('the options of sessions', () => {
  it.each<[string, object]>([
    ['nothing', {}],
    ['the smallest numbers', { maxDepth: 1, maxRunning: 1 }],
    ['the largest numbers', { maxDepth: 10, maxRunning: 256 }],
    ['a runner with 32 characters', { runners: { ['a'.repeat(32)]: { run } } }],
    ['a runner with one character', { runners: { A: { run } } }],
    ['a program', { runners: { x: { type: 'command', argv: ['agent'] } } }],
    [
      'services',
      { runners: { x: { type: 'url', url: 'http://x' }, y: { type: 'url', url: 'https://x', secret: 's' } } },
    ],
  ])('may be %s', (_, options) => {
    expect(() => check(options)).not.toThrow()
  })

  it.each([
    [{ maxDepth: 0 }, 'maxDepth', 0, 10],
    [{ maxDepth: 11 }, 'maxDepth', 11, 10],
    [{ maxDepth: 1.5 }, 'maxDepth', 1.5, 10],
    [{ maxRunning: 0 }, 'maxRunning', 0, 256],
    [{ maxRunning: 257 }, 'maxRunning', 257, 256],
  ])('may not be %j', (options, key, value, most) => {
    expect(() => check(options)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `sessions.${key} is ${value}; it must be a whole number from 1 to ${most}.`,
        fix: { key: `sessions.${key}`, hint: `Use a whole number from 1 to ${most}.` },
      }),
    )
  })

  const NAME = 'a name has letters, digits, _ and -, at most 32, a letter first'
  it.each<[string, object, string]>([
    ['a'.repeat(33), { run }, NAME],
    ['1a', { run }, NAME],
    ['a b', { run }, NAME],
    ['x', { run: 'now' }, 'run must be a function'],
    ['x', { type: 'command', argv: [] }, 'argv needs a program'],
    ['x', { type: 'url', url: 'x' }, 'url must be an address of http or https'],
    ['x', { type: 'url', url: 'ftp://x' }, 'url must be an address of http or https'],
    ['x', { type: 'url', url: 'xhttp://x' }, 'url must be an address of http or https'],
    ['x', { type: 'url', url: 'http-x://x' }, 'url must be an address of http or https'],
    [
      'x',
      { type: 'url', url: 'http://x', secret: '' },
      'its secret is empty; set the environment variable that holds it',
    ],
  ])('name no runner %s that is %j', (name, runner, problem) => {
    expect(() => check({ runners: { ok: { run }, [name]: runner } })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `The runner "${name}" cannot be used: ${problem}.`,
        fix: { key: 'sessions.runners', hint: 'See docs/reference/sessions.md for what a runner is.' },
      }),
    )
  })

  it('show 60 characters of a name', () => {
    expect(() => check({ runners: { ['a'.repeat(61)]: { run } } })).toThrow(`The runner "${'a'.repeat(60)}" cannot`)
  })
})

it('a text is kept up to its limit, and says how much was cut', () => {
  expect(cutText('12345', 5)).toBe('12345')
  expect(cutText('1234567', 5)).toBe('12345\n[2 characters were cut]')
})

it('a place in a list is a number of up to 16 digits', () => {
  expect([readCursor(undefined), readCursor('0'), readCursor('1'.repeat(16))]).toEqual([
    undefined,
    0,
    1_111_111_111_111_111,
  ])
  for (const odd of ['', 'x1', '1x', '1'.repeat(17), '-1'])
    expect(() => readCursor(odd)).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: 'before is the next of an earlier page.',
        fix: { hint: 'Leave it out for the newest ones.' },
      }),
    )
})

describe('the environment of a program', () => {
  const fill = (env: Record<string, string> | undefined, variables: NodeJS.ProcessEnv = {}) => {
    const hidden: string[] = []
    const host = {
      secret: (name: string) => (name === 'a' ? '12345' : undefined),
      hide: (values: readonly string[]) => void hidden.push(...values),
    }
    return { filled: fillEnv('agent', env, { host, variables }), hidden }
  }

  it('is empty where nothing is said', () => {
    expect(fill(undefined)).toEqual({ filled: {}, hidden: [] })
  })

  it('hides values of 6 characters and more of what is called a secret', () => {
    const words = ['KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'CREDENTIALS', 'AUTH']
    const env = Object.fromEntries(words.map((word) => [`MY_${word}`, `value-of-${word}`]))
    expect(fill(env).hidden).toEqual(Object.values(env))
    expect(fill({ TOKEN: '123456' }).hidden).toEqual(['123456'])
    expect(fill({ TOKEN: '12345', HOST: 'example' }).hidden).toEqual([])
    expect(fill({ A: '${secret:a}' })).toEqual({ filled: { A: '12345' }, hidden: [] })
    expect(fill({ A: '${env:X_TOKEN} and ${env:B}' }, { X_TOKEN: 'abcdef', B: 'plain-one' })).toEqual({
      ...{ filled: { A: 'abcdef and plain-one' }, hidden: ['abcdef'] },
    })
  })

  it.each([
    ['${secret:b}', 'the secret b', 'Add it to secrets in tool-hub.yaml.'],
    ['${env:B}', 'the environment variable B', 'Set it where tool-hub is started.'],
    ['${env:constructor}', 'the environment variable constructor', 'Set it where tool-hub is started.'],
  ])('needs %s', (text, what, hint) => {
    expect(() => fill({ A: text })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `sessions.runners.agent.env.A needs ${what}, which is not set.`,
        fix: { hint },
      }),
    )
  })
})
