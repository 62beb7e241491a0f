import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function refusal(content: string | Uint8Array, name = 'tool-hub.yaml'): Promise<ToolError> {
  await writeFile(path.join(folder, name), content)
  return loading(name)
}

async function loading(name: string): Promise<ToolError> {
  const error = await loadConfig({ cwd: folder, file: name }).catch((reason: unknown) => reason)
  if (ToolError.is(error) && error.code === 'CONFIG_INVALID') return error
  throw new Error('was not refused', { cause: error })
}

describe('a file that cannot be read', () => {
  it('is named when it does not exist', async () => {
    expect((await loading('nowhere.yaml')).message).toBe('nowhere.yaml does not exist.')
  })

  it('is named when it is a folder', async () => {
    await mkdir(path.join(folder, 'tool-hub.yaml'))
    expect((await loading('tool-hub.yaml')).message).toBe('tool-hub.yaml is not a file.')
  })

  it('is refused when it is too large', async () => {
    expect((await refusal('#'.repeat(1_000_001))).message).toBe(
      'tool-hub.yaml has 1000001 bytes, a config has at most 1000000.',
    )
  })

  it('is refused when it is not UTF-8, with the line', async () => {
    expect((await refusal(Buffer.from('caller: a\nruns: \xff\n', 'latin1'))).message).toBe(
      'tool-hub.yaml:2:1 is not UTF-8 text.',
    )
  })

  it('is named when the system does not give it out', async () => {
    await symlink('tool-hub.yaml', path.join(folder, 'tool-hub.yaml'))
    expect((await loading('tool-hub.yaml')).message).toBe('tool-hub.yaml cannot be read (ELOOP).')
  })
})

describe('a hostile file', () => {
  it.each([
    ['a billion laughs', `a: &a [x, x, x, x, x, x, x, x, x]\n${laughs()}`, 'tool-hub.yaml:2:8 Excessive alias count'],
    ['an alias of itself', 'tools: &a\n  allow: *a\n', 'tool-hub.yaml:2:10'],
    ['a prototype', '__proto__: { caller: x }\n', 'tool-hub.yaml:1:1 __proto__: this name is reserved by JavaScript.'],
    [
      'a prototype further in',
      'limits:\n  tools:\n    constructor: { calls: 1 }\n',
      'tool-hub.yaml:3:5 limits.tools.constructor: this name is reserved',
    ],
    [
      'a prototype in plugin options',
      'plugins: [[./x.mjs, { __proto__: { a: 1 } }]]\n',
      'tool-hub.yaml:1:23 plugins[0][1].__proto__: this name is reserved',
    ],
    ['a function', 'caller: !!js/function "function () { return 1 }"\n', 'tool-hub.yaml:1:9 Unresolved tag'],
    ['a tag', 'caller: !secret x\n', 'tool-hub.yaml:1:9 Unresolved tag: !secret'],
    ['a merge key', 'limits: &a { calls: 1 }\nsandbox:\n  <<: *a\n', 'tool-hub.yaml:3:3 sandbox["<<"]: unknown key.'],
    [
      'another YAML version',
      '%YAML 1.1\n---\nsandbox: { <<: { root: x } }\n',
      'tool-hub.yaml:3:12 sandbox["<<"]: unknown key.',
    ],
    ['a key that is not a text', '? [a, b]\n: 1\n', 'tool-hub.yaml:1:3 With stringKeys, all keys must be strings'],
    ['control characters', '"a\\e[2Jb\\u202e": 1\n', 'tool-hub.yaml:1:1 ["a\\u001b[2Jb\\u{202e}"]: unknown key.'],
  ])('is refused: %s', async (_, text, expected) => {
    expect((await refusal(text)).message).toContain(expected)
    expect(({} as { caller?: unknown }).caller).toBeUndefined()
  })

  it.each([
    ['yaml', '['.repeat(300_000), 'nested deeper than 100 levels'],
    ['yaml', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'nested deeper than 100 levels'],
    ['yaml', '- '.repeat(300_000), 'nested deeper than 100 levels'],
    ['yaml', '{a: '.repeat(200_000), 'nested deeper than 100 levels'],
    ['yaml', `caller: ${'['.repeat(80)}${']'.repeat(80)}`, 'nested deeper than 64 levels'],
    ['json', `{"caller":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'nested deeper than 64 levels'],
    [
      'mjs',
      'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; export default { caller: a }',
      'nested deeper than 64 levels',
    ],
    ['mjs', 'const a = {}; a.caller = a; export default a', 'caller: must be a text, not a mapping of keys.'],
  ])('is refused before it costs anything: deep %s', async (kind, text, expected) => {
    expect((await refusal(text, `tool-hub.${kind}`)).message).toContain(expected)
  })

  it.each([
    ['keys', (index: number) => `k${index}: 1`, 'has more than 20000 entries'],
    ['keys that are there twice', (index: number) => `k${index % 2}: 1`, 'has 89998 problems'],
    ['aliases', (index: number) => (index === 0 ? 'runs:\n- &a 1' : '- *a'), 'Excessive alias count'],
  ])('is refused: 90,000 %s', async (_, line, expected) => {
    // Nearly as much as a file may have; comparing each with each would take minutes, which the test does not have.
    const text = Array.from({ length: 90_000 }, (_, index) => line(index)).join('\n')
    expect((await refusal(text)).message).toContain(expected)
  })
})

function laughs(): string {
  return ['b', 'c', 'd', 'e', 'f', 'g']
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[index]}`).join(', ')}]`)
    .join('\n')
}
