import { parseRanges } from '@tool-hub/sandbox/network'
import { describe, expect, it } from 'vitest'
import { decidedCall } from '../../../../../../test/support/call-stages.ts'
import { HostResolver, type Resolve } from '../../../../../sandbox/src/network/judge-destination.ts'
import { fakeClock } from '../../../../../testing/src/fake-clock.ts'
import { createRedactor } from '../../../records/redaction/redact.ts'
import type { RunState } from '../../run-state.ts'
import type { Runtime } from '../../runtime.ts'
import { Call } from '../call.ts'
import { urlViews } from './call-views.ts'

const SECRET = 'the-owners-own-secret'

/** The views of a call with these targets, where names are resolved so. */
function look(urls: readonly string[], resolve: Resolve, { tainted = false, clock = fakeClock() } = {}) {
  const hosts = new HostResolver(resolve, parseRanges(['127.0.0.0/8']))
  const locate = async (url: string, { onlyNamed }: { onlyNamed: boolean }) => {
    const { hostname } = new URL(url)
    return hosts.literal(hostname) ?? (onlyNamed && hostname !== 'named.example' ? undefined : hosts.ask(hostname))
  }
  const runtime = { redactor: createRedactor({ values: [SECRET] }), clock } as unknown as Runtime
  const run = { tainted, sandbox: { network: () => ({ locate }) } } as unknown as RunState
  const call = new Call({ id: '1', run: 'r', wire: 't', caller: 'c', options: {}, input: {} })
  const targets = urls.map((value) => ({ capability: 'network', value }) as const)
  const decided = decidedCall(call, undefined, { uses: { targets } })
  return { views: urlViews(runtime, run, decided, runtime.redactor.forDecision()), call }
}

const nobody: Resolve = () => Promise.reject(new Error('nobody is asked'))

const noting =
  (asked: string[]): Resolve =>
  async (host) => {
    asked.push(host)
    return ['1.1.1.1']
  }

describe('what an approver sees of a URL', () => {
  it('is the URL and the addresses that its host has now', async () => {
    const { views } = look(['https://a.example/x?y=1'], async () => ['93.184.215.14', '2606:2800:21F::1'])
    expect(await views).toEqual([
      { kind: 'url', url: 'https://a.example/x?y=1', addresses: ['93.184.215.14', '2606:2800:21f::1'] },
    ])
  })

  it('is an address as it stands, without asking anybody', async () => {
    const { views } = look(['http://127.0.0.1:8080/'], nobody)
    expect(await views).toEqual([{ kind: 'url', url: 'http://127.0.0.1:8080/', addresses: ['127.0.0.1'] }])
  })

  it.each<[string, Resolve, RegExp]>([
    ['does not resolve', async () => [], /The name a.example does not resolve/],
    [
      'leads to an address that may not be dialled',
      async () => ['10.0.0.1'],
      /leads to 10.0.0.1, which is not a public/,
    ],
    [
      'has one such address among others',
      async () => ['1.1.1.1', '169.254.169.254'],
      /169.254.169.254, which is a metadata/,
    ],
  ])('tells the problem of a host that %s', async (_, resolve, problem) => {
    const { views } = look(['http://a.example/'], resolve)
    expect(await views).toEqual([
      { kind: 'url', url: 'http://a.example/', addresses: [], problem: expect.stringMatching(problem) },
    ])
  })

  it('waits two seconds for a resolver, and not past the end of the call', async () => {
    const clock = fakeClock()
    const slow = look(['http://a.example/'], () => new Promise(() => {}), { clock })
    await clock.advance(2_000)
    expect(await slow.views).toMatchObject([{ addresses: [], problem: 'The lookup took longer than 2000 ms.' }])
    const stopped = look(['http://a.example/'], () => new Promise(() => {}))
    stopped.call.end()
    expect(await stopped.views).toMatchObject([{ addresses: [] }])
  })

  it('names each of at most five URLs once', async () => {
    const asked: string[] = []
    const urls = [1, 1, 2, 3, 4, 5, 6].map((at) => `http://host-${at}.example/`)
    const { views } = look(urls, noting(asked))
    expect(await views).toHaveLength(5)
    expect(asked).toEqual([1, 2, 3, 4, 5].map((at) => `host-${at}.example`))
  })

  it('holds no secret, and no resolver hears one', async () => {
    const { views } = look([`http://${SECRET}.example/?key=${SECRET}`], nobody)
    const [view] = await views
    expect(JSON.stringify(view)).not.toContain(SECRET)
    expect(view!.problem).toMatch(/not looked up: the host name contains a secret/)
  })

  it('asks nobody for a name that content from outside may have made up', async () => {
    const asked: string[] = []
    const { views } = look(['http://made-up.example/', 'http://named.example/'], noting(asked), { tainted: true })
    expect(await views).toMatchObject([
      { addresses: [], problem: expect.stringMatching(/name itself could carry data out/) },
      { addresses: ['1.1.1.1'] },
    ])
    expect(asked).toEqual(['named.example'])
  })
})
