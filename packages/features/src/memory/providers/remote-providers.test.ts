import { describe, expect, it } from 'vitest'
import type { HttpMemory } from '../types.ts'
import type { BackendUse } from './backend.ts'
import { createHttpProvider } from './remote-providers.ts'

const URL_TEXT = 'https://memory.example/v1'
const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status })

/** A provider whose service answers as told. */
function open(answer: () => Response = () => json({ notes: [] }), more: Partial<HttpMemory> = {}) {
  const [asked, connected, opened]: [{ url: string; init: RequestInit }[], unknown[], unknown[]] = [[], [], []]
  let heard = 0
  const host = {
    secret: (name: string) => (name === 'key' ? 'value-of-key' : undefined),
    webFetch: (wish: unknown) => {
      opened.push(wish)
      return async (url: URL, init: RequestInit) => {
        asked.push({ url: url.href, init })
        return answer()
      }
    },
  }
  const use = {
    signal: new AbortController().signal,
    heardOutside: () => {
      heard++
    },
    connected: (...connection: unknown[]) => void connected.push(connection),
  } as unknown as BackendUse
  const provider = createHttpProvider({ url: URL_TEXT, ...more }, host as never, { timeoutMs: 700 })
  const recall = () => provider.recall({ query: 'q', keys: ['shared'], limit: 5, tags: [] }, use)
  return { provider, recall, use, asked, connected, opened, heard: () => heard }
}

describe('a memory that speaks HTTP', () => {
  it('is asked below its URL, by one origin, with JSON and without redirects', async () => {
    const { provider, recall, asked, opened, connected, use } = open(undefined, {
      secret: 'key',
      headers: { 'x-tenant': 'T-${secret:key}', 'content-type': 'text/plain' },
    })
    expect(provider.name).toBe('memory.example')
    expect(opened).toEqual([{ origins: ['https://memory.example'], headersTimeoutMs: 700 }])
    expect(await recall()).toEqual([])
    expect(asked).toEqual([
      {
        url: 'https://memory.example/v1/recall',
        init: {
          method: 'POST',
          headers: {
            'x-tenant': 'T-value-of-key',
            authorization: 'Bearer value-of-key',
            'content-type': 'application/json',
            accept: 'application/json',
          },
          body: '{"query":"q","keys":["shared"],"limit":5,"tags":[]}',
          redirect: 'error',
          signal: use.signal,
        },
      },
    ])
    expect(connected).toEqual([['https://memory.example/v1/recall', 'answered 200']])
    const slash = open(undefined, { url: `${URL_TEXT}/` })
    await slash.recall()
    expect(slash.asked[0]!.url).toBe('https://memory.example/v1/recall')
    expect(slash.asked[0]!.init.headers).not.toHaveProperty('authorization')
  })

  it.each([
    ['ftp://x', 'memory.url', 'is not an http or https URL.', 'Write the full URL: https://memory.example.org/v1.'],
    ['x', 'memory.url', 'is not an http or https URL.', 'Write the full URL: https://memory.example.org/v1.'],
    [
      'https://me@x',
      'memory.secret',
      'contains a user name or password.',
      'Remove them from the url, and use memory.secret.',
    ],
    [
      'https://:me@x',
      'memory.secret',
      'contains a user name or password.',
      'Remove them from the url, and use memory.secret.',
    ],
  ])('is not at %s', (url, key, problem, hint) => {
    expect(() => open(undefined, { url })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `The url of the memory service ${problem}`,
        fix: { key, hint },
      }),
    )
  })

  it('is not asked without its secret', async () => {
    const { recall, asked, connected } = open(undefined, { secret: 'other' })
    await expect(recall()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The memory needs the secret other, which is not set.',
      fix: { key: 'secrets', hint: 'Add it to secrets in tool-hub.yaml, and set its environment variable.' },
    })
    expect(asked).toEqual([])
    expect(connected).toEqual([[`${URL_TEXT}/recall`, 'failed: The memory needs the secret other, which is not set.']])
  })

  it('says in 200 characters why it cannot be reached', async () => {
    const { recall, connected } = open(() => {
      throw new Error('x'.repeat(201))
    })
    await expect(recall()).rejects.toThrow('xxx')
    expect(connected).toEqual([[`${URL_TEXT}/recall`, `failed: ${'x'.repeat(200)}`]])
  })

  const LATER = 'Try again later; details are in its own log.'
  it.each([
    [199 + 101, {}, '.', LATER, false],
    [400, {}, '.', LATER, false],
    [401, {}, '.', 'Check memory.secret.', false],
    [402, {}, '.', LATER, false],
    [403, {}, '.', 'Check memory.secret.', false],
    [405, {}, '.', LATER, false],
    [428, {}, '.', LATER, false],
    [429, { error: { message: 'slow\ndown' } }, ': slow\\ndown', LATER, true],
    [430, {}, '.', LATER, false],
    [499, {}, '.', LATER, false],
    [500, { error: { message: 'x'.repeat(501) } }, `: ${'x'.repeat(500)}`, LATER, true],
    [501, { error: { message: 'x'.repeat(10_001) } }, '.', LATER, true],
    [503, { error: { message: 'x'.repeat(10_000) } }, `: ${'x'.repeat(500)}`, LATER, true],
  ])('refuses with %i', async (status, body, words, hint, retryable) => {
    const { recall, heard } = open(() => json(body, status))
    await expect(recall()).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: `The memory memory.example answered ${status}${words}`,
      fix: { hint },
      retryable,
    })
    // Its own words are those of a stranger.
    expect(heard()).toBe(words === '.' ? 0 : 1)
  })

  it('takes every status from 200 to 299 for a yes', async () => {
    for (const status of [200, 201, 299]) expect(await open(() => json({ notes: [] }, status)).recall()).toEqual([])
  })

  it.each([
    ['garbage', () => new Response('<html>')],
    ['another form', () => json({ found: [] })],
    ['1,001 notes', () => json({ notes: Array(1_001).fill(1) })],
    ['nothing, as if the path were unknown', () => json({}, 404)],
  ])('that answers %s does not speak the protocol', async (_, answer) => {
    await expect(open(answer).recall()).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The memory memory.example does not speak the protocol of docs/reference/memory.md.',
      fix: { hint: 'Check memory.url; a reference server is examples/memory-server.mjs.' },
      retryable: false,
    })
  })

  it('may answer 1,000 notes in 4 MB, and no more', async () => {
    expect(await open(() => json({ notes: Array(1_000).fill(1) })).recall()).toHaveLength(1_000)
    const sized = (bytes: number) => () => new Response(JSON.stringify({ notes: [] }).padEnd(bytes))
    expect(await open(sized(4_000_000)).recall()).toEqual([])
    await expect(open(sized(4_000_001)).recall()).rejects.toMatchObject({
      code: 'HTTP_TOO_LARGE',
      message: 'The memory memory.example answered more than 4000000 bytes.',
      fix: { hint: 'The service must respect the limit of the request.' },
    })
  })

  it('says of a note that it is gone, or forgets it', async () => {
    const note = { id: 'n"1', key: 'shared', origin: { tainted: false, reviewed: true, at: 1 } }
    const missing = open(() => json({}, 404))
    await expect(missing.provider.update!(note, missing.use)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'Note "n\\"1" not found.',
      fix: { hint: 'Recall it again.' },
    })
    expect(await missing.provider.forget!(note, missing.use)).toBe(false)
    for (const forgotten of [true, false]) {
      const { provider, use } = open(() => json({ forgotten }))
      expect(await provider.forget!(note, use)).toBe(forgotten)
    }
  })
})
