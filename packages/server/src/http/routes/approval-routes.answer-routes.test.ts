import { expect, it, onTestFinished } from 'vitest'
import { serveHttp } from '../../../../../test/support/http-served.ts'

it('shows every right link, and says 429 to those who guess', async () => {
  const page = { status: 200, html: 'May ada call it?' }
  const gone = { status: 404, html: 'Nothing waits here' }
  const answers = {
    show: async (link: string) => (link === 'right' ? page : gone),
    answer: async (link: string) => (link === 'right' ? page : gone),
  }
  const served = await serveHttp({}, { answers })
  onTestFinished(() => served.close())
  const look = (link: string) => fetch(new URL(`/answer/${link}`, served.server.url))
  const send = (link: string) =>
    fetch(new URL(`/answer/${link}`, served.server.url), {
      method: 'POST',
      body: new URLSearchParams({ decision: 'allow' }),
    })
  for (let guess = 0; guess < 30; guess++) expect((await look(`wrong-${guess}`)).status).toBe(404)
  for (const refused of [await look('wrong'), await send('wrong')]) {
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('content-type')).toContain('text/html')
    expect(await refused.text()).toContain('Too many links that lead nowhere')
  }
  expect((await look('right')).status).toBe(200)
  expect((await send('right')).status).toBe(200)
})
