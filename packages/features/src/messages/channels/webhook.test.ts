import { describe, expect, it } from 'vitest'
import { freePort, HOOK_SECRET, useMessages } from '../../../../../test/support/message-hub.ts'
import { signWebhook } from '../../../../core/src/lib/hash.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'

const world = useMessages()
const nextTick = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)))

describe('a webhook', () => {
  it('gets signed JSON with a key that is the same for every try', async () => {
    const { send } = world.open({ hook: world.hook() })
    const result = await send({ channel: 'hook', title: 'Hi', text: 'Zwölf & <b>', level: 'error' })
    expect(result).toMatchObject({ ok: true, data: { messageId: result.callId } })
    const [request] = world.services.got
    const { headers, body, json } = request!
    expect(json).toMatchObject({ type: 'message', id: result.callId, title: 'Hi', text: 'Zwölf & <b>', level: 'error' })
    expect(headers['idempotency-key']).toBe(result.callId)
    const at = Number(headers['webhook-timestamp']) * 1000
    const signed = signWebhook({ id: result.callId, body: body.toString('utf8'), at }, HOOK_SECRET)
    expect(headers['webhook-signature']).toBe(signed['webhook-signature'])
  })

  it('whose URL is a reference shows it nowhere, in whatever spelling', async () => {
    const value = 'https://HOOKS.example.org/in/path-that-is-secret-0001?key=query-secret'
    const secrets = { hook: { value, hosts: ['hooks.example.org'] } }
    const { send } = world.open({ hook: { ...world.hook(), url: '${secret:hook}' } }, { secrets })
    const { data } = await send({ channel: 'hook', text: 'x', dryRun: true })
    expect(data).toMatchObject({ isDryRun: true })
    expect(JSON.stringify(data)).not.toMatch(/path-that-is|query-secret/)
  })

  it('is tried once more when nobody knows whether it arrived, and no more than that', async () => {
    const clock = fakeClock()
    const { send: begin } = world.open({ hook: world.hook() }, { clock })
    const send = async (message: object) => {
      const sending = begin(message)
      const over = sending.then(() => true)
      while (!(await Promise.race([over, nextTick()]))) await clock.advance(5)
      return sending
    }
    world.services.upsets.push('reset')
    expect((await send({ channel: 'hook', text: 'x' })).ok).toBe(true)
    expect(world.services.got.map(({ headers }) => headers['idempotency-key'])).toHaveLength(2)
    expect(new Set(world.services.got.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    world.services.upsets.push('500', '500')
    const failed = await send({ channel: 'hook', text: 'x' })
    expect(failed.error).toMatchObject({ code: 'UPSTREAM_ERROR', message: expect.stringContaining('(500): busy') })
    expect(failed.error!.fix.hint).toContain('Check whether it arrived')
    expect(world.services.got).toHaveLength(4)
  })

  it.each([
    ['/refuse', 'UPSTREAM_ERROR', /refused it \(403\): no\\u\{1b\}\[31m entry/],
    ['/redirect', 'UPSTREAM_ERROR', /redirects \(307\)/],
  ])('that answers by %s fails with %s', async (path, code, message) => {
    const { send } = world.open({ hook: world.hook(path) })
    const { error } = await send({ channel: 'hook', text: 'x' })
    expect(error).toMatchObject({ code, retryable: false, message: expect.stringMatching(message) })
    expect(error!.message.length).toBeLessThan(500)
  })

  it('may say as a date how long to wait', async () => {
    const { send } = world.open({ hook: world.hook() })
    world.services.upsets.push('429')
    const { error } = await send({ channel: 'hook', text: 'x' })
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryable: true })
    expect(Number(/wait (\d+) ms/.exec(error!.message)?.[1])).toBeGreaterThanOrEqual(59_000)
    expect(world.services.got).toHaveLength(1)
  })

  it('that answers with 100 MB is not listened to', async () => {
    const { send } = world.open({ hook: world.hook('/big') })
    expect((await send({ channel: 'hook', text: 'x' })).ok).toBe(true)
  })

  it('that hangs is given up after its time, and nobody knows what became of the message', async () => {
    const { send } = world.open({ hook: world.hook('/hang', { timeoutMs: 40 }) })
    const { error } = await send({ channel: 'hook', text: 'x' })
    expect(error).toMatchObject({ code: 'HTTP_TIMEOUT', retryable: false })
    expect(error!.message).toContain('did not answer in 40 ms')
  })

  it('stops when the call is aborted in the middle', async () => {
    const { send } = world.open({ hook: world.hook('/hang') })
    const stop = new AbortController()
    const sending = send({ channel: 'hook', text: 'x' }, { signal: stop.signal })
    setTimeout(() => stop.abort(), 30)
    expect((await sending).status).toBe('aborted')
  })

  it('that nobody listens at may be tried again: nothing was sent', async () => {
    const { send } = world.open({ hook: { ...world.hook(), url: `http://127.0.0.1:${await freePort()}` } })
    expect((await send({ channel: 'hook', text: 'x' })).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      retryable: true,
      message: expect.stringContaining('No connection to'),
    })
  })

  it('never reaches a metadata address', async () => {
    const { send } = world.open({ meta: { ...world.hook(), url: 'http://169.254.169.254/latest' } })
    expect((await send({ channel: 'meta', text: 'x' })).error?.code).toBe('HTTP_DISALLOWED_HOST')
  })
})
