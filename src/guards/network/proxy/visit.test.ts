import { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ToolError } from '../../../errors.ts'
import { PROXY_LIMITS } from './proxy-limits.ts'
import { ProxyUse } from './proxy-use.ts'
import { Visit } from './visit.ts'

const told: string[] = []
const network = {
  permits(url: string) {
    if (url.includes('denied')) throw new ToolError('POLICY_DENIED', 'a rule says no')
  },
  onConnection: (url: string, outcome: string) => void told.push(`${url} ${outcome}`),
}
const visitTo = (asked = 'http://a.example/', keep: (socket: Socket) => void = () => {}) =>
  new Visit(network, asked, keep)

beforeEach(() => {
  told.length = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

describe('what becomes of a visit', () => {
  it('is told with the address that was connected to', () => {
    visitTo().connected('1.2.3.4', 80)
    visitTo().connected('2001:db8::1', 443)
    expect(told).toEqual([
      'http://a.example/ connected to 1.2.3.4:80',
      'http://a.example/ connected to [2001:db8::1]:443',
    ])
  })

  it('is told once, as a refusal or as a failure', () => {
    const refused = visitTo()
    refused.failed(new ToolError('POLICY_DENIED', 'no'))
    refused.failed(new ToolError('UPSTREAM_ERROR', 'later'))
    visitTo().failed(new ToolError('UPSTREAM_ERROR', 'down'))
    const connected = visitTo()
    connected.connected('1.2.3.4', 80)
    connected.failed(new Error('after that'))
    expect(told).toEqual([
      'http://a.example/ refused: no',
      'http://a.example/ failed: down',
      'http://a.example/ connected to 1.2.3.4:80',
    ])
  })

  it('is told of what was asked for, at most 512 characters, until its URL is judged', () => {
    visitTo('x'.repeat(513)).failed(new Error('no'))
    expect(told).toEqual([`${'x'.repeat(512)} failed: no`])
    const visit = visitTo()
    const admitted: string[] = []
    visit.permit(new URL('http://b.example/x'), ({ href }) => void admitted.push(href))
    visit.failed(new Error('no'))
    expect([admitted, told[1]]).toEqual([['http://b.example/x'], 'http://b.example/x failed: no'])
    expect(() => visit.permit(new URL('http://denied.example/'), () => {})).toThrow('a rule says no')
  })

  it('does not fail twice where the refusal cannot be told', () => {
    const deaf = {
      ...network,
      onConnection() {
        throw new Error('full')
      },
    }
    const visit = new Visit(deaf, 'x', () => {})
    expect(() => visit.failed(new Error('no'))).not.toThrow()
    expect(() => new Visit(deaf, 'x', () => {}).connected('1.2.3.4', 80)).toThrow('full')
  })

  it('is over when a step takes too long, and its sockets are closed', () => {
    const kept: Socket[] = []
    const visit = visitTo('x', (socket) => void kept.push(socket))
    const socket = new Socket()
    visit.hold(socket)
    visit.allow(10, 'The first step')
    vi.advanceTimersByTime(9)
    visit.allow(10, 'The second step')
    vi.advanceTimersByTime(9)
    expect([visit.signal.aborted, socket.destroyed, kept]).toEqual([false, false, [socket]])
    vi.advanceTimersByTime(1)
    expect(visit.signal.reason).toMatchObject({
      code: 'HTTP_TIMEOUT',
      message: 'The second step took more than 10 ms.',
    })
    expect(socket.destroyed).toBe(true)
    expect(() => visit.hold(new Socket())).toThrow('The second step took more than 10 ms.')
  })

  it('has no step to wait for once it is open, or stopped', () => {
    const opened = visitTo()
    opened.allow(10, 'It')
    opened.opened()
    const stopped = visitTo()
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
    const visit = proxy.begin(client, 'x')
    proxy.count(4)
    proxy.count(6)
    expect([visit.signal.aborted, client.destroyed]).toEqual([false, false])
    proxy.count(1)
    expect(visit.signal.reason).toMatchObject({
      code: 'HTTP_TOO_LARGE',
      message: 'More than 10 bytes went through the proxy.',
      fix: { hint: 'Fetch less in one command.' },
    })
    expect(client.destroyed).toBe(true)
    const late = new Socket()
    expect(proxy.begin(late, 'x').signal.reason).toMatchObject({ code: 'HTTP_TOO_LARGE' })
  })

  it('passes nothing where the limit is no number', () => {
    const proxy = use({ maxBytes: Number.NaN })
    const visit = proxy.begin(new Socket(), 'x')
    proxy.count(0)
    expect(visit.signal.aborted).toBe(true)
  })
})
