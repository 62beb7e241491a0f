import type { FeatureCall } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import { PageEventQueue } from './page/tab.ts'
import { RunNetwork } from './run-browser.ts'

/** A call that may reach what is on a list, and what is put on its record. */
function callWith(allowed: readonly string[] = []) {
  const recorded: string[] = []
  const call = {
    allows: (_: string, url: string) =>
      allowed.includes(url) ? { ok: true } : { ok: false, why: 'a rule says no', effect: 'deny' },
    recordConnection: (url: string, outcome: string) => recorded.push(`${url} ${outcome}`),
  } as unknown as FeatureCall
  return { call, recorded }
}

describe('what the pages of a run may reach', () => {
  it('is what their call may, and the https hosts that a call has visited', () => {
    const network = new RunNetwork(callWith(['http://a.example/x']).call, new PageEventQueue())
    network.visit(new URL('https://b.example/start'))
    network.visit(new URL('http://c.example/'))
    for (const url of ['http://a.example/x', 'https://b.example/', 'https://b.example/other']) {
      expect(() => network.permits(url)).not.toThrow()
    }
    for (const url of ['http://a.example/y', 'http://b.example/', 'https://b.example:8443/', 'http://c.example/']) {
      expect(() => network.permits(url)).toThrow(
        expect.objectContaining({
          code: 'POLICY_DENIED',
          message: `${new URL(url).host}: a rule says no.`,
          fix: expect.objectContaining({ hint: 'Have the owner allow network on this host by a rule.' }),
        }),
      )
    }
    network.judgeAs(callWith(['http://c.example/']).call)
    expect(() => network.permits('http://c.example/')).not.toThrow()
  })

  it('is remembered where it was refused: by host for https, by address without its fragment for http', () => {
    const news = new PageEventQueue()
    const network = new RunNetwork(callWith().call, news)
    network.onConnection('https://a.example/', 'refused: first')
    network.onConnection('http://b.example/x', 'refused: second')
    network.onConnection('http://c.example/', 'connected to 1.2.3.4:80')
    expect([network.refusals, network.lastRefusal]).toEqual([2, 'second'])
    expect(news.take()).toEqual({
      refused: ['https://a.example/: first', 'http://b.example/x: second'],
      refusedCount: 2,
    })
    expect(network.refusal('https://a.example/any?x#y')).toBe('first')
    expect(network.refusal('http://b.example/x#a\nb#c')).toBe('second')
    expect(['http://b.example/y', 'http://c.example/', 'no url'].map((url) => network.refusal(url))).toEqual([
      ...[undefined, undefined, undefined],
    ])
  })

  it('is recorded 200 times for a call, and then noted as continuing', () => {
    const { call, recorded } = callWith()
    const network = new RunNetwork(call, new PageEventQueue())
    for (let count = 1; count <= 202; count += 1) network.onConnection(`http://a.example/${count}`, 'connected')
    expect(recorded).toHaveLength(201)
    expect(recorded.slice(-2)).toEqual([
      'http://a.example/200 connected',
      'http://a.example/200 and further ones, which are not listed',
    ])
    network.judgeAs(call)
    network.onConnection('http://a.example/', 'connected')
    expect(recorded).toHaveLength(201)
    const next = callWith()
    network.judgeAs(next.call)
    network.onConnection('http://a.example/', 'connected')
    expect(next.recorded).toEqual(['http://a.example/ connected'])
  })

  it('forgets refusals once there are 500', () => {
    const network = new RunNetwork(callWith().call, new PageEventQueue())
    for (let count = 1; count <= 500; count += 1) network.onConnection(`http://a.example/${count}`, 'refused: no')
    expect(network.refusal('http://a.example/1')).toBe('no')
    network.onConnection('http://a.example/501', 'refused: no')
    expect([network.refusal('http://a.example/1'), network.refusal('http://a.example/501')]).toEqual([undefined, 'no'])
    expect(network.refusals).toBe(501)
  })
})
