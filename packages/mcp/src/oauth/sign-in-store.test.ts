import { createCipheriv, randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { networkStore, readDocument, sourceHost } from '../../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { prepareDataFolder } from '../../../sandbox/src/system/data-folder.ts'
import { forgetSignIns, openSignIns } from './sign-in-store.ts'

const URL = 'https://mcp.example/mcp'
const tokens = (access_token: string) => ({ access_token, token_type: 'Bearer' })

let data = ''
beforeEach(() => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  data = temporaryFolder('sign-in-store')
})
afterEach(() => void vi.unstubAllEnvs())

const open = (url = URL, server = 's') => openSignIns(sourceHost(data), server, url)
const read = (signIns = open()) => signIns.use((store) => store.read())
const keep = (signIns: ReturnType<typeof open>, access: string) =>
  signIns.use((store) => store.change((entry) => ({ ...entry, tokens: tokens(access) })))
const forget = (url?: string) => forgetSignIns(sourceHost(data), { server: 's', ...(url && { url }) })

it('keeps what was got for a server and a URL, whatever stands behind its #', async () => {
  await keep(open(), 'one')
  await keep(open(`${URL}?tenant=2`), 'two')
  await keep(open(URL, 't'), 'three')
  expect((await read(open(`${URL}#part`))).tokens).toEqual(tokens('one'))
  expect((await read(open(`${URL}?tenant=2`))).tokens).toEqual(tokens('two'))
  expect((await read(open(URL, 't'))).tokens).toEqual(tokens('three'))
  expect(await read(open(`${URL}?tenant=3`))).toEqual({})
})

it('changes one entry, and forgets what is set to undefined', async () => {
  await keep(open(), 'one')
  await keep(open(URL, 't'), 'other')
  await open().use((store) => store.change(() => ({ lackingScope: 'admin', client: { client_id: 'c' } })))
  expect(await read()).toMatchObject({ tokens: tokens('one'), lackingScope: 'admin', client: { client_id: 'c' } })
  await open().use((store) => store.change(() => ({ tokens: undefined })))
  expect(await read()).toEqual({ server: 's', url: URL, lackingScope: 'admin', client: { client_id: 'c' } })
  expect((await read(open(URL, 't'))).tokens).toEqual(tokens('other'))
})

it('writes nothing where nothing changes', async () => {
  await open().use((store) => store.change((entry) => entry))
  for (const name of ['store.db', 'key']) expect(existsSync(join(data, name))).toBe(false)
})

it('keeps at most 200,000 characters of a server', async () => {
  const withScope = (chars: number) => {
    const empty = JSON.stringify({ lackingScope: '', server: 's', url: URL }).length
    return open().use((store) => store.change(() => ({ lackingScope: 'x'.repeat(chars - empty) })))
  }
  await withScope(200_000)
  expect((await read()).lackingScope).toMatch(/^x+$/)
  await expect(withScope(200_001)).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: 'What s says about signing in has 200001 characters, the limit is 200000.',
    retryable: false,
  })
})

it('forgets a server at one URL or at all, and says whether there was something', async () => {
  await keep(open(), 'one')
  await keep(open(`${URL}/2`), 'two')
  await keep(open(`${URL}/3`), 'three')
  await keep(open(URL, 't'), 'other')
  expect(await forget(`${URL}/4`)).toBe(false)
  expect(await forget(`${URL}#part`)).toBe(true)
  expect(await read()).toEqual({})
  expect((await read(open(`${URL}/2`))).tokens).toEqual(tokens('two'))
  expect(await forget()).toBe(true)
  expect(await forget()).toBe(false)
  expect((await read(open(URL, 't'))).tokens).toEqual(tokens('other'))
})

describe('the file of the sign-ins of tool-hub 0.1.0', () => {
  const KEY = '0123456789abcdef'.repeat(4)
  const CONTENT = { version: 1, servers: [entry('s', 'old'), entry('t', 'other')] }

  function entry(server: string, access: string) {
    return { server, url: URL, tokens: tokens(access) }
  }

  /** Encrypts as 0.1.0 did. */
  function writeFile(content: object = CONTENT): string {
    const path = join(data, 'mcp-tokens')
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(KEY, 'hex'), nonce)
    cipher.setAAD(Buffer.from('tool-hub mcp-tokens 1'))
    const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(content)), cipher.final(), cipher.getAuthTag()])
    prepareDataFolder(data)
    writeFileSync(join(data, 'key'), `${KEY}\n`, { mode: 0o600 })
    writeFileSync(path, `tool-hub sealed 1\n${sealed.toString('base64')}\n`, { mode: 0o600 })
    return path
  }

  it('is moved to the store, and deleted', async () => {
    const path = writeFile()
    expect((await read()).tokens).toEqual(tokens('old'))
    expect(existsSync(path)).toBe(false)
    expect((await read(open(URL, 't'))).tokens).toEqual(tokens('other'))
    expect(await readDocument(data, 'mcp-sign-ins/s')).toMatch(/^tool-hub sealed 1\n/)
    expect(await forget()).toBe(true)
    expect(await read()).toEqual({})
  })

  it('replaces nothing that is newer', async () => {
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    await keep(open(), 'new')
    writeFile()
    expect((await read()).tokens).toEqual(tokens('new'))
    expect((await read(open(URL, 't'))).tokens).toEqual(tokens('other'))
  })

  it('stays while it cannot be decrypted, and says so', async () => {
    const path = writeFile()
    vi.stubEnv('TOOL_HUB_KEY', 'f'.repeat(64))
    await expect(read()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('it was changed, or written with another key'),
      fix: { hint: expect.stringContaining(`delete ${path} and sign in again`) },
    })
    expect(existsSync(path)).toBe(true)
  })

  it('is not moved to a store that other machines read', async () => {
    const path = writeFile()
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    const store = networkStore(join(data, 'network'))
    expect(await openSignIns({ data, store }, 's', URL).use((each) => each.read())).toEqual({})
    expect(existsSync(path)).toBe(true)
  })
})
