import { once } from 'node:events'
import { get, request as send } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../core/src/context.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { openWebCallback, type WebCallback, type WebCallbackOptions } from './web-callback.ts'

const open: WebCallback[] = []
afterEach(() => {
  for (const callback of open.splice(0)) callback.close()
})

async function listen(options: Partial<WebCallbackOptions> = {}): Promise<WebCallback> {
  const { signal } = new AbortController()
  const callback = await openWebCallback({ state: 'st4te', timeoutMs: 300_000, clock: systemClock, signal, ...options })
  open.push(callback)
  return callback
}

/** What a browser gets. */
async function visit(url: string, { method = 'GET', host }: { method?: string; host?: string } = {}) {
  const request = send(url, { method, agent: false, ...(host !== undefined && { headers: { host } }) }).end()
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode as number, text, headers: response.headers as Record<string, string> }
}

it('takes the answer that carries the state, and says that the window can be closed', async () => {
  const { url, answer } = await listen()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  const page = await visit(`${url}?code=c&state=st4te&iss=https%3A%2F%2Fauth.example`)
  expect(page).toMatchObject({ status: 200, text: 'You can close this window.\n' })
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  expect(Object.fromEntries(await answer)).toEqual({ code: 'c', state: 'st4te', iss: 'https://auth.example' })
})

it('takes one answer only, and is gone after it', async () => {
  const { url, answer } = await listen()
  await visit(`${url}?code=c&state=st4te`)
  await answer
  await expect(visit(`${url}?code=d&state=st4te`)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
})

it('takes a refusal for an answer, too', async () => {
  const { url, answer } = await listen()
  await visit(`${url}?error=access_denied&state=st4te`)
  expect((await answer).get('error')).toBe('access_denied')
})

it('refuses whatever else comes, and continues to wait', async () => {
  const { url, answer } = await listen()
  const good = '?code=c&state=st4te'
  const strangers = [
    visit(`${url}?code=c`),
    visit(`${url}?code=c&state=other`),
    visit(`${url}?code=c&state=st4te&state=st4te`),
    visit(`${url}?code=c&code=d&state=st4te`),
    visit(`${url}?state=st4te`),
    visit(`${url}?code=c&error=e&state=st4te`),
    visit(url.replace('/callback', '/other') + good),
    visit(url + good, { host: 'evil.example' }),
    visit(url + good, { host: `localhost:${new URL(url).port}` }),
    visit(url + good, { method: 'POST' }),
  ]
  expect((await Promise.all(strangers)).map(({ status }) => status)).toEqual(strangers.map(() => 400))
  await visit(url + good)
  expect((await answer).get('code')).toBe('c')
})

it('is not there for the network, only for this machine', async () => {
  const { url } = await listen()
  const { port } = new URL(url)
  const elsewhere = get({ host: '127.0.0.2', port, path: '/callback?code=c&state=st4te' })
  await expect(once(elsewhere, 'response')).rejects.toThrow(/ECONNREFUSED/)
})

it('waits so long and no longer', async () => {
  const clock = fakeClock()
  const { answer, url } = await listen({ clock })
  await clock.advance(300_001)
  await expect(answer).rejects.toThrow(expect.objectContaining({ code: 'APPROVAL_TIMEOUT' }))
  await expect(visit(url)).rejects.toThrow(/ECONNREFUSED/)
})

it('ends with its signal, while it waits and before it begins', async () => {
  const controller = new AbortController()
  const { answer, url } = await listen({ signal: controller.signal })
  controller.abort()
  const stopped = expect.objectContaining({ code: 'ABORTED' })
  await expect(answer).rejects.toThrow(stopped)
  await expect(visit(url)).rejects.toThrow(/ECONNREFUSED/)
  await expect(listen({ signal: controller.signal })).rejects.toThrow(stopped)
})

it('says that the port is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(listen({ port })).rejects.toThrow(
    expect.objectContaining({ code: 'CONFLICT', message: `Port ${port} of this machine cannot be listened on.` }),
  )
})
