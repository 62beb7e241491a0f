import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sourceHost } from '../../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../core/src/context.ts'
import type { WebFetch } from '../../../core/src/source.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { signInToServer } from './sign-in.ts'

const URL = 'https://mcp.example/mcp'
const { signal } = new AbortController()

beforeEach(() => void vi.stubEnv('TOOL_HUB_KEY', ''))
afterEach(() => void vi.unstubAllEnvs())

function signIn(fetch: WebFetch, others: object = {}): Promise<void> {
  const host = { ...sourceHost(temporaryFolder('sign-in')), clock: systemClock, hide: () => {} }
  return signInToServer({ server: 's', url: URL, host, fetch, openBrowser: () => {}, say: () => {}, signal, ...others })
}

it('first asks the server what it wants, as both protocols do, and says when it offers no sign-in', async () => {
  const asked: { url: string; init: RequestInit }[] = []
  const locked: WebFetch = async (url, init = {}) => {
    asked.push({ url: String(url), init })
    return new Response(null, { status: 404 })
  }
  await expect(signIn(locked)).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: 's offers no sign-in.',
    fix: {
      key: 'mcpServers.s.headers.Authorization',
      hint: 'It offers no sign-in; if it takes a token, set headers.Authorization.',
    },
    retryable: false,
    cause: expect.any(Error),
  })
  const accept = 'application/json, text/event-stream'
  const [post, get, ...others] = asked
  expect(post).toMatchObject({
    url: URL,
    init: { method: 'POST', headers: { accept, 'content-type': 'application/json' } },
  })
  expect(JSON.parse(String(post!.init.body))).toEqual({ jsonrpc: '2.0', id: 1, method: 'ping' })
  expect(get).toMatchObject({ url: URL, init: { headers: { accept } } })
  expect(get!.init.method).toBeUndefined()
  expect(others.length).toBeGreaterThan(0)
  for (const { init } of asked) expect(init.signal).toBe(signal)
})

it('does not ask a second time where the first answer says what the server wants', async () => {
  const asked: string[] = []
  const where = 'https://mcp.example/about'
  const challenge = { 'www-authenticate': `Bearer resource_metadata="${where}"` }
  const locked: WebFetch = async (url) => {
    asked.push(String(url))
    return new Response(null, String(url) === URL ? { status: 401, headers: challenge } : { status: 404 })
  }
  await expect(signIn(locked)).rejects.toThrow()
  expect(asked.slice(0, 2)).toEqual([URL, where])
})

it('says in at most 500 characters, on one line, what failed', async () => {
  const cause = new Error(`no\n${'x'.repeat(500)}`)
  await expect(signIn(() => Promise.reject(cause))).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: `Signing in to s failed: no\\n${'x'.repeat(497)}`,
    fix: { hint: 'Try again; if it stays so, tell the operator of the server.' },
    retryable: false,
    cause,
  })
})

it('says what it was where the error is one of the table, also a wrapped one', async () => {
  const known = new ToolError('HTTP_TIMEOUT', 'too slow')
  await expect(signIn(() => Promise.reject(known))).rejects.toBe(known)
  await expect(signIn(() => Promise.reject(new TypeError('wrapped', { cause: known })))).rejects.toBe(known)
})

it('says that it was stopped', async () => {
  const stop = new AbortController()
  const cause = new Error('no')
  const fetch: WebFetch = () => {
    stop.abort()
    return Promise.reject(cause)
  }
  await expect(signIn(fetch, { signal: stop.signal })).rejects.toMatchObject({
    code: 'ABORTED',
    message: expect.stringContaining('s'),
  })
})

it('waits five minutes for the person', async () => {
  const clock = fakeClock()
  const waits: number[] = []
  const after: typeof clock.after = (ms, callback) => {
    waits.push(ms)
    return clock.after(ms, callback)
  }
  const host = { ...sourceHost(temporaryFolder('sign-in')), clock: { ...clock, after }, hide: () => {} }
  await expect(signIn(() => Promise.reject(new Error('no')), { host })).rejects.toThrow('Signing in to s failed: no')
  expect(waits).toEqual([300_000])
})
