import { expect, it } from 'vitest'
import { oauthFetch } from './oauth-fetch.ts'

const TOKEN_URL = 'https://auth.example/token'
const of = (chars: number) => async () => new Response('x'.repeat(chars))

it('reads at most 200,000 bytes of an answer about signing in', async () => {
  expect(await (await oauthFetch(of(200_000))(TOKEN_URL)).text()).toHaveLength(200_000)
  await expect(oauthFetch(of(200_001))(TOKEN_URL)).rejects.toMatchObject({
    code: 'HTTP_TOO_LARGE',
    message: 'An answer about signing in has more than 200000 bytes.',
  })
  const pieces = new Blob(['x'.repeat(100_000), 'x'.repeat(100_001)]).stream()
  await expect(oauthFetch(async () => new Response(pieces))(TOKEN_URL)).rejects.toMatchObject({
    code: 'HTTP_TOO_LARGE',
  })
})

it.each([204, 205, 304])('hands on an answer with status %i, which has no body', async (status) => {
  const response = await oauthFetch(async () => new Response(null, { status, headers: { 'x-a': 'b' } }))(TOKEN_URL)
  expect([response.status, response.headers.get('x-a'), response.body]).toEqual([status, 'b', null])
})

it('hands on the status and headers of an answer that has a body', async () => {
  const response = await oauthFetch(async () => new Response('no', { status: 404, headers: { 'x-a': 'b' } }))(TOKEN_URL)
  expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([404, 'b', 'no'])
})

it('neither reads nor bounds the answers of the server itself', async () => {
  for (const init of [{ method: 'DELETE' }, { headers: { accept: 'application/json, text/event-stream' } }]) {
    const stream = new Response('x'.repeat(200_001))
    expect(await oauthFetch(async () => stream)('https://mcp.example/', init)).toBe(stream)
  }
})

it('passes on what is not an error of the table as it is', async () => {
  const defect = new Error('a defect')
  await expect(oauthFetch(() => Promise.reject(defect))(TOKEN_URL)).rejects.toBe(defect)
})

/** How often an authorization server is asked when the same request is made twice. */
async function timesAsked(init: RequestInit, between: RequestInit | undefined = undefined): Promise<number> {
  let asked = 0
  const fetch = oauthFetch(async (url) => {
    if (String(url) !== TOKEN_URL) return new Response(null, { status: 401 })
    asked++
    return Response.json({ access_token: 'a-2', refresh_token: 'r-1' })
  })
  await fetch(TOKEN_URL, init)
  if (between) await fetch('https://mcp.example/', between)
  await fetch(TOKEN_URL, init)
  return asked
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields)
const renewal = { method: 'POST', body: form({ grant_type: 'refresh_token', refresh_token: 'r-1' }) }

it.each<[string, RequestInit, number]>([
  ['a renewal', renewal, 1],
  ['one that is not posted', { ...renewal, method: 'PUT' }, 2],
  ['one that is not a form', { ...renewal, body: String(renewal.body) }, 2],
  ['another grant', { method: 'POST', body: form({ grant_type: 'authorization_code', refresh_token: 'r-1' }) }, 2],
  ['one without a token', { method: 'POST', body: form({ grant_type: 'refresh_token' }) }, 2],
])('asks once for the same renewal, and again for everything else: %s', async (_, init, times) => {
  expect(await timesAsked(init)).toBe(times)
})

it.each([
  ['Bearer a-2', 2],
  ['Bearer a-1', 1],
  ['a-Bearer 2', 1],
])('asks again where the server refused the renewed token: %s', async (authorization, times) => {
  expect(await timesAsked(renewal, { headers: { authorization } })).toBe(times)
})
