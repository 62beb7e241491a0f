import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { forgetSignIns, SealedSignInStore } from './sign-in-store.ts'

const URL = 'https://mcp.example/mcp'
const tokens = (access_token: string) => ({ access_token, token_type: 'Bearer' })

let data = ''
beforeEach(() => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  data = temporaryFolder('sign-in-store')
})
afterEach(() => void vi.unstubAllEnvs())

const open = (url = URL, server = 's') => new SealedSignInStore(data, server, url)
const keep = (store: SealedSignInStore, access: string) =>
  store.change((entry) => ({ ...entry, tokens: tokens(access) }))

it('keeps what was got for a server and a URL, whatever stands behind its #', () => {
  keep(open(), 'one')
  keep(open(`${URL}?tenant=2`), 'two')
  keep(open(URL, 't'), 'three')
  expect(open(`${URL}#part`).read().tokens).toEqual(tokens('one'))
  expect(open(`${URL}?tenant=2`).read().tokens).toEqual(tokens('two'))
  expect(open(URL, 't').read().tokens).toEqual(tokens('three'))
  expect(open(`${URL}?tenant=3`).read()).toEqual({})
})

it('changes one entry, and forgets what is set to undefined', () => {
  keep(open(), 'one')
  keep(open(URL, 't'), 'other')
  open().change(() => ({ lackingScope: 'admin', client: { client_id: 'c' } }))
  expect(open().read()).toMatchObject({ tokens: tokens('one'), lackingScope: 'admin', client: { client_id: 'c' } })
  open().change(() => ({ tokens: undefined }))
  expect(open().read()).toEqual({ server: 's', url: URL, lackingScope: 'admin', client: { client_id: 'c' } })
  expect(open(URL, 't').read().tokens).toEqual(tokens('other'))
})

it('writes nothing where nothing changes', () => {
  open().change((entry) => entry)
  expect(readdirSync(data)).not.toContain('mcp-tokens')
})

it('keeps at most 200,000 characters of a server', () => {
  const withScope = (chars: number) => {
    const empty = JSON.stringify({ lackingScope: '', server: 's', url: URL }).length
    open().change(() => ({ lackingScope: 'x'.repeat(chars - empty) }))
  }
  withScope(200_000)
  expect(open().read().lackingScope).toMatch(/^x+$/)
  expect(() => withScope(200_001)).toThrow(
    expect.objectContaining({
      code: 'UPSTREAM_ERROR',
      message: 'What s says about signing in has 200001 characters, the limit is 200000.',
      retryable: false,
    }),
  )
})

it('forgets a server at one URL or at all, and says whether there was something', () => {
  keep(open(), 'one')
  keep(open(`${URL}/2`), 'two')
  keep(open(`${URL}/3`), 'three')
  keep(open(URL, 't'), 'other')
  expect(forgetSignIns(data, 's', `${URL}/4`)).toBe(false)
  expect(forgetSignIns(data, 's', `${URL}#part`)).toBe(true)
  expect(open().read()).toEqual({})
  expect(open(`${URL}/2`).read().tokens).toEqual(tokens('two'))
  expect(forgetSignIns(data, 's')).toBe(true)
  expect(forgetSignIns(data, 's')).toBe(false)
  expect(open(URL, 't').read().tokens).toEqual(tokens('other'))
})
