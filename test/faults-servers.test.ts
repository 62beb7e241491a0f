import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hub } from '../packages/runtime/src/hub/hub.ts'
import { eventually } from './support/eventually.ts'
import { draftsBelow, openBelow } from './support/left-behind.ts'
import { type LyingServer, startLyingServer } from './support/lying-server.ts'

let base: string
let root: string
let server: LyingServer
let hub: Hub

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-servers-')))
  root = join(base, 'ws')
  mkdirSync(root)
  server = await startLyingServer()
  hub = createToolHub({
    sandbox: { root, network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
    policy: [{ allow: 'network' }, { allow: 'write:fs' }],
    runs: join(base, 'runs'),
    data: join(base, 'data'),
  })
})

afterEach(async () => {
  await hub.close({ abort: true })
  server.close()
  rmSync(base, { recursive: true, force: true })
})

const urlOf = (lie: string) => `http://127.0.0.1:${server.port}/${lie}`
const inputOf = (lie: string, timeoutMs = 20_000) => ({ url: urlOf(lie), timeoutMs, maxBytes: 1_000_000 })
const fetchText = (lie: string, { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  hub.callDynamic('core/http.fetchText', inputOf(lie, timeoutMs), { signal })
const download = (lie: string, { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  hub.callDynamic('core/http.downloadFile', { ...inputOf(lie, timeoutMs), destPath: 'got/file.bin' }, { signal })

/** No file, no part of one, no descriptor, and once the hub is closed no connection. */
async function expectNothingLeft(): Promise<void> {
  expect(readdirSync(root, { recursive: true }).filter((name) => String(name).endsWith('.bin'))).toEqual([])
  expect(draftsBelow(root)).toEqual([])
  expect(openBelow(root)).toEqual([])
  await hub.close()
  await eventually(() => expect(server.connections).toBe(0))
}

describe('a server that', () => {
  it.each([
    ['hangs', 'hung', /^HTTP_TIMEOUT$/],
    ['sends a byte now and then', 'dripping', /^HTTP_TIMEOUT$/],
    ['stops in the middle and stays', 'half-closed', /^(UPSTREAM_ERROR|HTTP_TIMEOUT)$/],
    ['says a wrong length', 'too-short', /^UPSTREAM_ERROR$/],
    ['stops within a chunk', 'torn-chunk', /^UPSTREAM_ERROR$/],
    ['redirects for ever', 'redirect', /^UPSTREAM_ERROR$/],
    ['never ends its headers', 'headers', /^HTTP_TOO_LARGE$/],
    ['speaks no HTTP', 'no-http', /^UPSTREAM_ERROR$/],
  ])('%s is a typed error for reading and for downloading, and leaves nothing', async (_, lie, code) => {
    // Those that keep us waiting are not waited for.
    const timeoutMs = 'HTTP_TIMEOUT'.match(code) ? 1_000 : undefined
    const results = await Promise.all([fetchText(lie, { timeoutMs }), download(lie, { timeoutMs })])
    for (const result of results) expect(result.error?.code, result.error?.message).toMatch(code)
    await expectNothingLeft()
  })

  it('sends a gzip bomb without end gets no further than the limit', async () => {
    const [text, file] = await Promise.all([fetchText('bomb'), download('bomb')])
    // A text may be given cut, with a word about it; a file is whole or not there.
    if (text.ok) expect(text.meta.truncated ?? text.meta.notices).toBeTruthy()
    else expect(text.error.code).toBe('HTTP_TOO_LARGE')
    expect(file.error).toMatchObject({ code: 'HTTP_TOO_LARGE' })
    await expectNothingLeft()
  })

  it('is fine is fine', async () => {
    expect(await fetchText('fine')).toMatchObject({ ok: true, data: { text: 'fine' } })
    expect(await download('fine')).toMatchObject({ ok: true })
    expect(readdirSync(join(root, 'got'))).toEqual(['file.bin'])
  })
})

it('a stopped call ends immediately, whatever the server was about to do', async () => {
  for (const lie of ['hung', 'dripping']) {
    for (const call of [fetchText, download]) {
      const result = await call(lie, { signal: AbortSignal.timeout(100) })
      expect(result, lie).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } })
      // It stopped by itself: nobody had to leave it behind.
      expect(result.meta.abandoned, lie).toBeUndefined()
    }
  }
  await expectNothingLeft()
})
