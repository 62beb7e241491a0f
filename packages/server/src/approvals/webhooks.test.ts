import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { askingHub, asksIn } from '../../../../test/support/asking-hub.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { signWebhook } from '../../../core/src/lib/hash.ts'
import { hookId } from './answer-links.ts'
import { startWebhooks } from './webhooks.ts'

const SECRET = 'a-secret-of-more-than-24-characters'

interface Delivery {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let server: Server
let url: string
let got: Delivery[]
/** What the receiver answers to its requests, one after the other; then 204. */
let statuses: number[]

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('')
    got.push({ path: request.url!, headers: request.headers, body })
    if (request.url === '/slow') return
    response.writeHead(statuses.shift() ?? 204, { location: 'https://elsewhere.example.org/' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  got = []
  statuses = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function newHooks(hooks: Parameters<typeof startWebhooks>[0]['hooks'] = [{ url: `${url}/hook`, secret: SECRET }]) {
  const { hub, store, clock } = askingHub()
  const problems: string[] = []
  const onProblem = (message: string) => problems.push(message)
  const start = () => {
    const started = startWebhooks({ hub, store, clock, hooks, publicUrl: () => 'https://hub.example.org/', onProblem })
    onTestFinished(() => started.close())
    return started
  }
  const call = (to = 'x@example.org') => hub.as({ name: 'token:ada' }).callDynamic('test.sendMail', { to })
  return { hub, store, clock, problems, start, call }
}

/** Lets time pass until the receiver has got so much. */
async function received(count: number): Promise<Delivery[]> {
  return eventually(() => {
    expect(got).toHaveLength(count)
    return got
  })
}

describe('webhooks', () => {
  it('get what waits, signed, with a link to answer', async () => {
    const { store, clock, start, call } = newHooks()
    start()
    void call()
    const [{ headers, body }] = (await received(1)) as [Delivery]
    const [ask] = await asksIn(store)
    const sent = JSON.parse(body)
    expect(sent).toMatchObject({ type: 'approval.requested', approval: { id: ask!.id, caller: 'token:ada' } })
    expect(sent.answerUrl).toMatch(/^https:\/\/hub\.example\.org\/answer\/[\w-]{16}\.approval-[\w-]+\.\d+\.[\w-]{43}$/)
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const signature = createHmac('sha256', SECRET).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(headers['webhook-timestamp']).toBe(String(clock.now() / 1000))
    expect(headers['content-type']).toBe('application/json')
    expect(body).not.toContain(SECRET)
  })

  it('are tried again, later and later, when they answer with an error', async () => {
    const { clock, problems, start, call } = newHooks()
    statuses = [500, 302]
    start()
    void call()
    await received(1)
    await eventually(() => expect(problems).toHaveLength(1))
    expect(problems[0]).toMatch(/did not take approval-\S+, next try in 2 s: it answered 500/)
    await eventually(async () => {
      await clock.advance(5_000)
      expect(problems).toHaveLength(2)
    })
    expect(problems[1]).toMatch(/next try in 10 s: .*redirects \(302\)/)
    await eventually(async () => {
      await clock.advance(5_000)
      expect(got).toHaveLength(3)
    })
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('are tried again when nobody is there, and sent once somebody is', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as AddressInfo
    gone.close()
    await once(gone, 'close')
    const { clock, problems, start, call } = newHooks([{ url: `http://127.0.0.1:${port}/hook`, secret: SECRET }])
    start()
    void call()
    await eventually(() => expect(problems).toHaveLength(1))
    expect(problems[0]).toContain(`http://127.0.0.1:${port} did not take`)
    let requests = 0
    const back = createServer((_, response) => response.end(String(++requests))).listen(port, '127.0.0.1')
    onTestFinished(() => void back.close())
    await once(back, 'listening')
    await eventually(async () => {
      await clock.advance(5_000)
      expect(requests).toBe(1)
    })
  })

  it('are not sent what was answered in the meantime', async () => {
    const { hub, store, clock, problems, start, call } = newHooks()
    statuses = [503]
    start()
    const result = call()
    await eventually(() => expect(problems).toHaveLength(1))
    const [ask] = await asksIn(store)
    await hub.approvals.answer(ask!.id, { decision: 'allow', by: 'bob' })
    expect((await result).ok).toBe(true)
    await clock.advance(600_000)
    expect(got).toHaveLength(1)
    expect(await store.jobs.list({ kind: `webhook:${hookId(`${url}/hook`)}` })).toEqual([])
  })

  it('continue where an earlier sender was stopped, and send nothing twice', async () => {
    const { store, clock, problems, start, call } = newHooks()
    statuses = [500]
    const first = start()
    void call()
    await eventually(() => expect(problems).toHaveLength(1))
    await first.close()
    void call('while-nobody-listens@example.org')
    const asks = await asksIn(store, 2)
    await clock.advance(10_000)
    expect(got).toHaveLength(1)
    const second = start()
    await received(3)
    // The server has it before the sender has noted that: what was sent is due again when it expires.
    const due = async () =>
      (await store.jobs.list({ kind: `webhook:${hookId(`${url}/hook`)}` })).map(({ dueAt }) => dueAt)
    await eventually(async () => expect((await due()).sort()).toEqual(asks.map(({ expiresAt }) => expiresAt).sort()))
    await second.close()
    start()
    void call('last@example.org')
    const deliveries = await received(4)
    const recipients = deliveries.map(({ body }) => JSON.parse(body).approval.input.to)
    expect(recipients.slice(1).sort()).toEqual([
      'last@example.org',
      'while-nobody-listens@example.org',
      'x@example.org',
    ])
  })

  it('wait for no other: one that hangs holds up nothing', async () => {
    const { start, call } = newHooks([
      { url: `${url}/slow`, secret: SECRET },
      { url: `${url}/hook`, secret: SECRET },
    ])
    const started = start()
    void call()
    void call('y@example.org')
    await eventually(() => expect(got.filter(({ path }) => path === '/hook')).toHaveLength(2))
    expect(got.filter(({ path }) => path === '/slow')).toHaveLength(1)
    // What is on its way is given up, not waited for.
    await started.close()
  })

  it('are kept from others by a flood for no longer than the 100 requests that one principal may have', async () => {
    const { hub, start } = newHooks()
    const leave = (name: string, to: string) =>
      hub.as({ name }).callDynamic('test.sendMail', { to }, { onAsk: 'return' })
    await Promise.all(Array.from({ length: 150 }, (_, n) => leave('token:mallory', `${n}@example.org`)))
    await leave('token:ada', 'x@example.org')
    start()
    const deliveries = await received(101)
    expect(deliveries.map(({ body }) => JSON.parse(body).approval.caller)).toContain('token:ada')
  })

  it('get only the events they want', async () => {
    const { hub, start, call } = newHooks([
      { url: `${url}/questions`, secret: SECRET, events: ['question'] },
      { url: `${url}/all`, secret: SECRET },
    ])
    start()
    void call()
    void hub.as({ name: 'token:ada' }).callDynamic('test.orderLunch', { question: 'Lunch?' })
    const deliveries = await received(3)
    const kinds = deliveries.map(({ path, body }) => `${path} ${JSON.parse(body).type}`)
    expect(kinds.sort()).toEqual([
      '/all approval.requested',
      '/all question.requested',
      '/questions question.requested',
    ])
  })

  it('need a secret that is long enough, and a URL of their own', () => {
    const { start } = newHooks([{ url: `${url}/hook`, secret: 'short' }])
    expect(start).toThrow(/has 5 characters/)
    const standard = newHooks([{ url: `${url}/hook`, secret: `whsec_${Buffer.alloc(20).toString('base64')}` }])
    expect(standard.start).toThrow(/has 20 characters/)
    const twice = { url: `${url}/hook`, secret: SECRET }
    expect(newHooks([twice, twice]).start).toThrow(/Two webhooks/)
  })
})

describe('signWebhook', () => {
  it('signs as Standard Webhooks does', () => {
    // The example of the standard's own libraries.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const body = '{"test": 2432232314}'
    const headers = signWebhook({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, at: 1_614_265_330_999 }, secret)
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(headers['webhook-timestamp']).toBe('1614265330')
  })
})
