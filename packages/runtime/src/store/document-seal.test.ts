import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { sealDocument } from './document-seal.ts'
import { DocumentState } from './document-state.ts'

const schema = z.strictObject({ token: z.string() })
const HEX = '0123456789abcdef'.repeat(4)
const BASE64 = Buffer.from(HEX, 'hex').toString('base64')

let folder: string

beforeEach(async () => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  folder = join(await mkdtemp(join(tmpdir(), 'document-seal-')), 'data')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(join(folder, '..'), { recursive: true, force: true })
})

/** A document whose key is in the folder. */
function open(name = 'tokens') {
  const store = openStore(join(folder, '../store'))
  onTestFinished(() => store.close())
  const { documents } = store
  const common = { what: 'The tokens', name, hint: 'Sign in again.' }
  const state = new DocumentState({
    ...{ ...common, documents, schema, empty: { token: '' } },
    seal: sealDocument({ ...common, keyFolder: folder }),
  })
  const write = async (body: string) => documents.write(name, body, (await documents.read(name))?.revision ?? 0)
  const body = async () => (await documents.read(name))!.body!
  return {
    read: () => state.use((each) => each.read()),
    save: (token: string) => state.use((each) => void each.update(() => ({ token }))),
    write,
    body,
  }
}
const save = (token: string, name?: string) => open(name).save(token)
const closed = (message: RegExp) =>
  expect.objectContaining({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(message),
    fix: { hint: 'Sign in again.' },
  })

describe('a sealed document', () => {
  it('returns what was saved and shows nothing of it', async () => {
    await save('hush-hush')
    expect(await open().read()).toEqual({ token: 'hush-hush' })
    {
      const content = Buffer.from(await open().body())
      expect(content.includes('hush')).toBe(false)
      expect(content.includes(Buffer.from('hush-hush').toString('base64').slice(1, -3))).toBe(false)
    }
  })

  it('is written anew each time, also for the same content', async () => {
    await save('a')
    const first = await open().body()
    await save('a')
    expect(await open().body()).not.toBe(first)
  })

  it('makes its key once, for nobody else to read, and needs none before there is something to keep', async () => {
    expect(await open().read()).toEqual({ token: '' })
    await save('a')
    const key = await readFile(join(folder, 'key'), 'utf8')
    expect(Buffer.from(key, 'base64').length).toBe(32)
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600)
    await save('b', 'others')
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe(key)
  })

  it.each([
    ['hex', HEX],
    ['hex in large letters, with blanks around it', ` ${HEX.toUpperCase()}\n`],
    ['base64', BASE64],
    ['base64url', Buffer.from(HEX, 'hex').toString('base64url')],
  ])('takes its key from TOOL_HUB_KEY in %s, and writes none', async (_, key) => {
    vi.stubEnv('TOOL_HUB_KEY', key)
    await save('a')
    expect(await readdir(folder)).toEqual(['created.json'])
    vi.stubEnv('TOOL_HUB_KEY', HEX)
    expect(await open().read()).toEqual({ token: 'a' })
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
  ])('refuses the key %j', async (key) => {
    vi.stubEnv('TOOL_HUB_KEY', key)
    await expect(save('a')).rejects.toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'TOOL_HUB_KEY does not hold a key of 32 bytes in base64 or hex.',
        fix: { hint: 'Make one: openssl rand -base64 32.' },
      }),
    )
  })
})

describe('a sealed document that does not open', () => {
  beforeEach(() => save('a'))

  it('says that its key is gone, and makes no other', async () => {
    await rm(join(folder, 'key'))
    await expect(open().read()).rejects.toThrow(closed(/key is gone, and TOOL_HUB_KEY is not set/))
    await expect(save('b')).rejects.toThrow(closed(/key is gone/))
    expect(await readdir(folder)).toEqual(['created.json'])
  })

  it('says that it was written with another key', async () => {
    vi.stubEnv('TOOL_HUB_KEY', HEX)
    await expect(open().read()).rejects.toThrow(closed(/The tokens in the store .* cannot be used: .*another key/))
  })

  it('notices a single changed bit, and one that was cut', async () => {
    const { write, body: read } = open()
    const [head, body] = (await read()).split('\n') as [string, string]
    const bytes = Buffer.from(body, 'base64')
    bytes[14]! ^= 1
    await write(`${head}\n${bytes.toString('base64')}\n`)
    await expect(open().read()).rejects.toThrow(closed(/was changed/))
    await write(`${head}\n${bytes.subarray(0, 20).toString('base64')}\n`)
    await expect(open().read()).rejects.toThrow(closed(/is not what was written here/))
    for (const content of ['{"token":"forged"}', `x${head}\n${body}\n`, `${head}\n${body}\nx`, `${head}\n${body}`]) {
      await write(content)
      await expect(open().read()).rejects.toThrow(closed(/is not what was written here/))
    }
    await write(`${head}\n${body}\n`)
    expect(await open().read()).toEqual({ token: 'a' })
  })

  it('is another sealed document put in its place', async () => {
    await save('b', 'others')
    await open().write(await open('others').body())
    await expect(open().read()).rejects.toThrow(closed(/was changed/))
  })

  it('has a key that others can read', async () => {
    await chmod(join(folder, 'key'), 0o640)
    await expect(open().read()).rejects.toThrow(/key can be read by other users \(mode 640\)/)
    await expect(open().read()).rejects.toThrow(
      expect.objectContaining({
        fix: { hint: `Look who could have read it; then chmod 600 ${join(folder, 'key')}.` },
      }),
    )
    for (const mode of [0o601, 0o604, 0o610, 0o640]) {
      await chmod(join(folder, 'key'), mode)
      await expect(open().read()).rejects.toThrow(`(mode ${mode.toString(8)})`)
    }
  })
})
