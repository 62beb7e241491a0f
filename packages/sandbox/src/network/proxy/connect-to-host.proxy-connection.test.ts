import { Socket } from 'node:net'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isRefusal, PROXY_LIMITS, ProxyConnection, toRefusal } from './connect-to-host.ts'
import { ProxyUse } from './open-proxy.ts'

const told: string[] = []
const network = {
  permits(url: string) {
    if (url.includes('denied')) throw new ToolError('POLICY_DENIED', 'a rule says no')
  },
  onConnection: (url: string, outcome: string) => void told.push(`${url} ${outcome}`),
}
const connectionTo = (asked = 'http://a.example/', keep: (socket: Socket) => void = () => {}) =>
  new ProxyConnection(network, asked, keep)

beforeEach(() => {
  told.length = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

describe('what becomes of a connection', () => {
  it('is reported with the address that was connected to', () => {
    connectionTo().connected('1.2.3.4', 80)
    connectionTo().connected('2001:db8::1', 443)
    expect(told).toEqual([
      'http://a.example/ connected to 1.2.3.4:80',
      'http://a.example/ connected to [2001:db8::1]:443',
    ])
  })

  it('is reported once, as a refusal or as a failure', () => {
    const refused = connectionTo()
    refused.failed(new ToolError('POLICY_DENIED', 'no'))
    refused.failed(new ToolError('UPSTREAM_ERROR', 'later'))
    connectionTo().failed(new ToolError('UPSTREAM_ERROR', 'down'))
    const connected = connectionTo()
    connected.connected('1.2.3.4', 80)
    connected.failed(new Error('after that'))
    expect(told).toEqual([
      'http://a.example/ refused: no',
      'http://a.example/ failed: down',
      'http://a.example/ connected to 1.2.3.4:80',
    ])
  })

  it('reports what was requested, at most 512 characters, until its URL is judged', () => {
    connectionTo('x'.repeat(513)).failed(new Error('no'))
    expect(told).toEqual([`${'x'.repeat(512)} failed: no`])
    const connection = connectionTo()
    const admitted: string[] = []
    connection.permit(new URL('http://b.example/x'), ({ href }) => void admitted.push(href))
    connection.failed(new Error('no'))
    expect([admitted, told[1]]).toEqual([['http://b.example/x'], 'http://b.example/x failed: no'])
    expect(() => connection.permit(new URL('http://denied.example/'), () => {})).toThrow('a rule says no')
  })

  it('does not fail twice where the refusal cannot be told', () => {
    const deaf = {
      ...network,
      onConnection() {
        throw new Error('full')
      },
    }
    const connection = new ProxyConnection(deaf, 'x', () => {})
    expect(() => connection.failed(new Error('no'))).not.toThrow()
    expect(() => new ProxyConnection(deaf, 'x', () => {}).connected('1.2.3.4', 80)).toThrow('full')
  })

  it('is over when a step takes too long, and its sockets are closed', () => {
    const kept: Socket[] = []
    const connection = connectionTo('x', (socket) => void kept.push(socket))
    const socket = new Socket()
    connection.hold(socket)
    connection.allow(10, 'The first step')
    vi.advanceTimersByTime(9)
    connection.allow(10, 'The second step')
    vi.advanceTimersByTime(9)
    expect([connection.signal.aborted, socket.destroyed, kept]).toEqual([false, false, [socket]])
    vi.advanceTimersByTime(1)
    expect(connection.signal.reason).toMatchObject({
      code: 'HTTP_TIMEOUT',
      message: 'The second step took more than 10 ms.',
    })
    expect(socket.destroyed).toBe(true)
    expect(() => connection.hold(new Socket())).toThrow('The second step took more than 10 ms.')
  })

  it('has no step to wait for once it is open, or stopped', () => {
    const opened = connectionTo()
    opened.allow(10, 'It')
    opened.opened()
    const stopped = connectionTo()
    stopped.allow(10, 'It')
    stopped.stop()
    vi.advanceTimersByTime(100)
    expect(opened.signal.aborted).toBe(false)
    expect(stopped.signal.reason).toMatchObject({ code: 'ABORTED', message: 'The client went away.' })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the use of a proxy', () => {
  const use = (limits = {}) => new ProxyUse(network, { ...PROXY_LIMITS, ...limits })

  it('closes a client that does not say in time what it wants', () => {
    const proxy = use({ openMs: 10 })
    const [slow, quick] = [new Socket(), new Socket()]
    proxy.welcome(slow)
    proxy.welcome(quick)
    expect([proxy.hasBegun(slow), proxy.hasBegun(quick)]).toEqual([false, false])
    proxy.begin(quick, 'http://a.example/')
    vi.advanceTimersByTime(10)
    expect([slow.destroyed, quick.destroyed, proxy.hasBegun(quick)]).toEqual([true, false, true])
    quick.destroy()
  })

  it('ends everything once more bytes have passed than may, and refuses what comes then', () => {
    const proxy = use({ maxBytes: 10 })
    const client = new Socket()
    proxy.welcome(client)
    const connection = proxy.begin(client, 'x')
    proxy.count(4)
    proxy.count(6)
    expect([connection.signal.aborted, client.destroyed]).toEqual([false, false])
    proxy.count(1)
    expect(connection.signal.reason).toMatchObject({
      code: 'HTTP_TOO_LARGE',
      message: 'More than 10 bytes went through the proxy.',
      fix: { hint: 'Fetch less in one command.' },
    })
    expect(client.destroyed).toBe(true)
    const late = new Socket()
    expect(proxy.begin(late, 'x').signal.reason).toMatchObject({ code: 'HTTP_TOO_LARGE' })
  })

  it('passes nothing if the limit is not a number', () => {
    const proxy = use({ maxBytes: Number.NaN })
    const connection = proxy.begin(new Socket(), 'x')
    proxy.count(0)
    expect(connection.signal.aborted).toBe(true)
  })
})

describe('what a client receives', () => {
  it.each([
    ['INPUT_SCHEMA_INVALID', 400, true],
    ['HTTP_DISALLOWED_HOST', 403, true],
    ['POLICY_DENIED', 403, true],
    ['HTTP_TOO_LARGE', 403, true],
    ['UPSTREAM_ERROR', 502, false],
    ['ABORTED', 502, false],
    ['HTTP_TIMEOUT', 504, false],
  ] as const)('has for %s the status %d', (code, status, isNo) => {
    const error = new ToolError(code, 'a.example says no.', { hint: 'Do this.' })
    expect(toRefusal(error, 'a.example')).toEqual({
      status,
      reason: 'a.example says no.',
      text: 'tool-hub: a.example says no. Do this.',
    })
    expect(isRefusal(error)).toBe(isNo)
  })

  it('says nothing of a failure that nobody expected', () => {
    expect(toRefusal(new TypeError('secret'), 'a.example')).toEqual({
      status: 500,
      reason: 'a.example: The proxy failed.',
      text: 'tool-hub: a.example: The proxy failed.',
    })
    expect(isRefusal(new TypeError('x'))).toBe(false)
  })

  it('is one line, in ASCII and short for the status line', () => {
    const error = new ToolError('POLICY_DENIED', `no\r\n\u2028ä${'x'.repeat(300)}`, { hint: 'Ä\nb.' })
    const { reason, text } = toRefusal(error, 'no')
    expect(reason).toBe(`no ?${'x'.repeat(196)}`)
    expect(text).toBe(`tool-hub: no ä${'x'.repeat(300)} Ä b.`)
  })
})
