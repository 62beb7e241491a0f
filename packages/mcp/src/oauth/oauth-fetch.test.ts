import { ToolError } from '@tool-hub/core/errors'
import { expect, it, vi } from 'vitest'
import { oauthFetch } from './oauth-fetch.ts'

const TOKEN_URL = 'https://auth.example/token'
const renewal = (token: string) => ({
  method: 'POST',
  body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token }),
})
const message = (token: string) => ({ method: 'POST', body: '{}', headers: { authorization: `Bearer ${token}` } })

/** An authorization server that gives out numbered tokens. */
function numbered() {
  let number = 1
  return vi.fn(async (url: string | URL) => {
    if (String(url) !== TOKEN_URL) return new Response(null, { status: 401 })
    number += 1
    return Response.json({ access_token: `access-${number}`, refresh_token: `refresh-${number}` })
  })
}

it('renews once for concurrent calls, and for one that is slower', async () => {
  const server = numbered()
  const fetch = oauthFetch(server)
  const answers = await Promise.all([fetch(TOKEN_URL, renewal('refresh-1')), fetch(TOKEN_URL, renewal('refresh-1'))])
  answers.push(await fetch(TOKEN_URL, renewal('refresh-2')))
  for (const answer of answers) expect(await answer.json()).toMatchObject({ access_token: 'access-2' })
  expect(server).toHaveBeenCalledTimes(1)
})

it('renews again once the renewed token is refused, also by a server of the first protocol', async () => {
  const fetch = oauthFetch(numbered())
  await fetch(TOKEN_URL, renewal('refresh-1'))
  await fetch('https://mcp.example/messages', message('access-1'))
  expect(await (await fetch(TOKEN_URL, renewal('refresh-2'))).json()).toMatchObject({ access_token: 'access-2' })
  await fetch('https://mcp.example/messages', message('access-2'))
  expect(await (await fetch(TOKEN_URL, renewal('refresh-2'))).json()).toMatchObject({ access_token: 'access-3' })
})

it('asks anew after a renewal that failed', async () => {
  const server = vi.fn(async () => Response.json({ error: 'invalid_grant' }, { status: 400 }))
  const fetch = oauthFetch(server)
  for (const _ of [1, 2]) expect((await fetch(TOKEN_URL, renewal('refresh-1'))).status).toBe(400)
  expect(server).toHaveBeenCalledTimes(2)
})

it('hands streams of the protocol through as they are', async () => {
  const stream = new Response(new ReadableStream())
  const fetch = oauthFetch(async () => stream)
  expect(await fetch('https://mcp.example/', { headers: { Accept: 'text/event-stream' } })).toBe(stream)
})

it('tells a broken connection as the SDK knows it, with what it was', async () => {
  const cause = new ToolError('UPSTREAM_ERROR', 'No connection to auth.example')
  const fetch = oauthFetch(() => Promise.reject(cause))
  await expect(fetch('https://auth.example/.well-known/x')).rejects.toThrow(
    expect.objectContaining({ name: 'TypeError', cause }),
  )
  await expect(fetch(TOKEN_URL, renewal('a'))).rejects.toThrow(
    expect.objectContaining({ name: 'OAuthError', code: 'temporarily_unavailable', cause }),
  )
})
