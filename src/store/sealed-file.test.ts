import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { SealedFile } from './sealed-file.ts'

const schema = z.strictObject({ token: z.string() })
const HEX = '0123456789abcdef'.repeat(4)
const BASE64 = Buffer.from(HEX, 'hex').toString('base64')

let folder: string

beforeEach(async () => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  folder = join(await mkdtemp(join(tmpdir(), 'sealed-file-')), 'data')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(join(folder, '..'), { recursive: true, force: true })
})

const open = (name = 'tokens') =>
  new SealedFile({ path: join(folder, name), schema, empty: { token: '' }, what: 'The tokens', hint: 'Sign in again.' })
const save = (token: string, name?: string) => open(name).update(() => ({ token }))
const closed = (message: RegExp) =>
  expect.objectContaining({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(message),
    fix: { hint: 'Sign in again.' },
  })

describe('a sealed file', () => {
  it('gives back what was saved and shows nothing of it on disk', async () => {
    save('hush-hush')
    expect(open().read()).toEqual({ token: 'hush-hush' })
    for (const name of await readdir(folder)) {
      const content = await readFile(join(folder, name))
      expect(content.includes('hush')).toBe(false)
      expect(content.includes(Buffer.from('hush-hush').toString('base64').slice(1, -3))).toBe(false)
    }
  })

  it('is written anew each time, also for the same content', async () => {
    save('a')
    const first = await readFile(join(folder, 'tokens'), 'utf8')
    save('a')
    expect(await readFile(join(folder, 'tokens'), 'utf8')).not.toBe(first)
  })

  it('makes its key once, for nobody else to read, and needs none before there is something to keep', async () => {
    expect(open().read()).toEqual({ token: '' })
    save('a')
    const key = await readFile(join(folder, 'key'), 'utf8')
    expect(Buffer.from(key, 'base64').length).toBe(32)
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600)
    save('b', 'others')
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe(key)
  })

  it.each([
    ['hex', HEX],
    ['hex in large letters, with blanks around it', ` ${HEX.toUpperCase()}\n`],
    ['base64', BASE64],
    ['base64url', Buffer.from(HEX, 'hex').toString('base64url')],
  ])('takes its key from TOOL_HUB_KEY in %s, and writes none', async (_, key) => {
    vi.stubEnv('TOOL_HUB_KEY', key)
    save('a')
    expect(await readdir(folder)).toEqual(['created.json', 'tokens'])
    vi.stubEnv('TOOL_HUB_KEY', HEX)
    expect(open().read()).toEqual({ token: 'a' })
  })

  it.each([
    'short',
    `${HEX}00`,
    `${HEX}zz`,
    `zz${HEX}`,
    `!${BASE64}`,
    `${BASE64}!`,
    `${BASE64}=`,
    'not base64 at all, but as long as it..... !',
  ])('refuses the key %j', (key) => {
    vi.stubEnv('TOOL_HUB_KEY', key)
    expect(() => save('a')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'TOOL_HUB_KEY does not hold a key of 32 bytes in base64 or hex.',
        fix: { hint: 'Make one: openssl rand -base64 32.' },
      }),
    )
  })
})

describe('a sealed file that does not open', () => {
  beforeEach(() => {
    save('a')
  })

  it('says that its key is gone, and makes no other', async () => {
    await rm(join(folder, 'key'))
    expect(() => open().read()).toThrow(closed(/key is gone, and TOOL_HUB_KEY is not set/))
    expect(() => save('b')).toThrow(closed(/key is gone/))
    expect(await readdir(folder)).toEqual(['created.json', 'tokens'])
  })

  it('says that it was written with another key', () => {
    vi.stubEnv('TOOL_HUB_KEY', HEX)
    expect(() => open().read()).toThrow(closed(/The tokens in .* cannot be used: .*another key/))
  })

  it('notices a single changed bit, and one that was cut', async () => {
    const path = join(folder, 'tokens')
    const [head, body] = (await readFile(path, 'utf8')).split('\n') as [string, string]
    const bytes = Buffer.from(body, 'base64')
    bytes[14]! ^= 1
    await writeFile(path, `${head}\n${bytes.toString('base64')}\n`)
    expect(() => open().read()).toThrow(closed(/was changed/))
    await writeFile(path, `${head}\n${bytes.subarray(0, 20).toString('base64')}\n`)
    expect(() => open().read()).toThrow(closed(/is not what was written here/))
    for (const content of ['{"token":"forged"}', `x${head}\n${body}\n`, `${head}\n${body}\nx`, `${head}\n${body}`]) {
      await writeFile(path, content)
      expect(() => open().read()).toThrow(closed(/is not what was written here/))
    }
    await writeFile(path, `${head}\n${body}\n`)
    expect(open().read()).toEqual({ token: 'a' })
  })

  it('is another sealed file put in its place', async () => {
    save('b', 'others')
    await copyFile(join(folder, 'others'), join(folder, 'tokens'))
    expect(() => open().read()).toThrow(closed(/was changed/))
  })

  it('has a key that others can read', async () => {
    await chmod(join(folder, 'key'), 0o640)
    expect(() => open().read()).toThrow(/key can be read by other users \(mode 640\)/)
    expect(() => open().read()).toThrow(
      expect.objectContaining({
        fix: { hint: `Look who could have read it; then chmod 600 ${join(folder, 'key')}.` },
      }),
    )
    for (const mode of [0o601, 0o604, 0o610, 0o640]) {
      await chmod(join(folder, 'key'), mode)
      expect(() => open().read()).toThrow(`(mode ${mode.toString(8)})`)
    }
  })
})
