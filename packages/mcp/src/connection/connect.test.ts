import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { type Script, scriptedHost } from '../../../../test/support/scripted-mcp-server.ts'
import type { HttpMcpServer, McpServer } from '../../../core/src/mcp-server.ts'
import type { WebFetch, WebFetchOptions } from '../../../core/src/source.ts'
import { connect, type KnownServer } from './connect.ts'

interface Attempt {
  readonly server?: McpServer
  readonly known?: KnownServer
  readonly signal?: AbortSignal
}

function openProgram(script: Script = {}) {
  const scripted = scriptedHost(script)
  const attempt = ({ server = { command: 'x' }, known = {}, signal = new AbortController().signal }: Attempt = {}) =>
    connect({ name: 's', server, host: scripted.host, env: {}, known, signal, prepare: () => {} })
  return { ...scripted, attempt }
}

/** A service whose answers the test gives. */
function openWeb(answer: WebFetch) {
  const asked: string[] = []
  const options: WebFetchOptions[] = []
  const fetch: WebFetch = async (url, init = {}) => {
    asked.push(`${init.method ?? 'GET'} ${String(url)}`)
    return answer(url, init)
  }
  const webFetch = (given: WebFetchOptions) => {
    options.push(given)
    return fetch
  }
  const { host } = scriptedHost({}, { webFetch })
  const attempt = (
    server: Partial<HttpMcpServer> = {},
    { known = {}, signal = new AbortController().signal }: Attempt = {},
  ) => {
    const whole = { url: 'http://mcp.example/mcp', oauth: false as const, ...server }
    return connect({ name: 's', server: whole, host, env: {}, known, signal, prepare: () => {} })
  }
  return { attempt, asked, options }
}

const status =
  (code: number): WebFetch =>
  async () =>
    new Response('said', { status: code })

describe('a program', () => {
  it('is greeted as what the hub is, and knows what can be asked', async () => {
    const { attempt, programs } = openProgram()
    const known: KnownServer = {}
    const { client, era, info, hasHeaders } = await attempt({ known })
    expect([era, info, hasHeaders, known.era]).toEqual(['legacy', { name: 'scripted', version: '7' }, false, 'legacy'])
    const initialize = programs[0]!.received.find(({ method }) => method === 'initialize')!
    expect(initialize.params).toMatchObject({
      clientInfo: { name: 'tool-hub', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      capabilities: { elicitation: { form: {}, url: {} } },
    })
    await client.close()
  })

  it('is asked for the newest protocol, unless it is known to speak the old one', async () => {
    const modern = openProgram({ era: 'modern' })
    const known: KnownServer = {}
    expect(await modern.attempt({ known })).toMatchObject({ era: 'modern', hasHeaders: false })
    expect(known.era).toBe('modern')
    const legacy = openProgram()
    await legacy.attempt({ known: { era: 'legacy' } })
    expect(legacy.programs[0]!.received.map(({ method }) => method)).toEqual([
      'initialize',
      'notifications/initialized',
    ])
  })

  it('is started again, and not asked again, where the question ended it', async () => {
    const { attempt, programs } = openProgram({
      onStart: (program, start) => {
        if (start === 1) setImmediate(() => program.exit(1))
        return start !== 1
      },
    })
    const known: KnownServer = {}
    expect((await attempt({ known })).era).toBe('legacy')
    expect(known.era).toBe('legacy')
    expect(programs).toHaveLength(2)
    expect(programs[1]!.received.map(({ method }) => method)).not.toContain('server/discover')
  })

  it('is started twice where it ends each time, and once where its protocol is known', async () => {
    const onStart: Script['onStart'] = (program) => {
      setImmediate(() => program.exit(4))
      return false
    }
    const known = openProgram({ onStart })
    await expect(known.attempt({ known: { era: 'legacy' } })).rejects.toThrow('s ended with exit code 4.')
    expect(known.programs).toHaveLength(1)
    const unknown = openProgram({ onStart })
    await expect(unknown.attempt()).rejects.toThrow('s ended with exit code 4.')
    expect(unknown.programs).toHaveLength(2)
  })

  it('is stopped with the attempt, which then ends with the reason and what the program said', async () => {
    const stop = new AbortController()
    const { attempt, programs } = openProgram({
      onStart: (program) => {
        program.say('still loading')
        setImmediate(() => stop.abort(new ToolError('TIMEOUT', 'too slow.', { hint: 'Wait.', retryable: false })))
        return false
      },
    })
    await expect(attempt({ signal: stop.signal })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'too slow. It said: still loading',
      fix: { hint: 'Wait.' },
      retryable: false,
      cause: { message: 'too slow.' },
    })
    expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGTERM' })
    expect(programs).toHaveLength(1)
    const reason = new Error('other')
    await expect(attempt({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})

describe('a service', () => {
  it.each([
    [{ oauth: false as const }, false, 600_000],
    [{ oauth: false as const, timeoutMs: 599_999 }, false, 600_000],
    [{ oauth: false as const, timeoutMs: 600_001 }, false, 600_001],
    [{ oauth: undefined, headers: { Authorization: 'x' } }, false, 600_000],
    [{ oauth: undefined }, true, 600_000],
  ])(
    'is reached at its own origin only, and where to sign in if it signs in: %j',
    async (server, publicHosts, headersTimeoutMs) => {
      const { attempt, options } = openWeb(status(500))
      await attempt(server).catch(() => {})
      expect(options).toEqual([{ origins: ['http://mcp.example'], publicHosts, headersTimeoutMs }])
    },
  )

  it('is reached the same way again', async () => {
    const { attempt, options } = openWeb(status(500))
    const known: KnownServer = {}
    for (const _ of [1, 2]) await attempt({}, { known }).catch(() => {})
    expect(options).toHaveLength(1)
  })

  it.each([
    [400, true],
    [404, true],
    [405, true],
    [401, false],
    [406, false],
    [500, false],
  ])('that answers %i is tried with the first protocol: %s', async (code, isTried) => {
    const { attempt, asked } = openWeb(status(code))
    const known: KnownServer = {}
    await expect(attempt({}, { known })).rejects.toThrow()
    expect(asked.includes('GET http://mcp.example/mcp')).toBe(isTried)
    expect(known.isSse).toBeUndefined()
  })

  it('is not tried with another protocol once the attempt is stopped', async () => {
    const stop = new AbortController()
    const { attempt, asked } = openWeb(async () => {
      stop.abort(new ToolError('ABORTED', 'stopped'))
      return new Response('no', { status: 404 })
    })
    await expect(attempt({}, { signal: stop.signal })).rejects.toThrow('stopped')
    expect(asked.some((request) => request.startsWith('GET'))).toBe(false)
  })

  it('is asked with the first protocol alone where the owner or an attempt before says so', async () => {
    for (const [server, known] of [
      [{ type: 'sse' as const }, {}],
      [{}, { isSse: true }],
    ] as const) {
      const { attempt, asked } = openWeb(status(500))
      await expect(attempt(server, { known })).rejects.toThrow()
      expect(new Set(asked)).toEqual(new Set(['GET http://mcp.example/mcp']))
    }
  })

  it.each([
    ['the owner says so', { type: 'sse' as const }, {}],
    ['an attempt before did', {}, { isSse: true }],
    ['it does not know the second one', {}, {}],
  ])('is greeted in the first protocol where %s, and not asked for the newest', async (_, server, known) => {
    const stop = new AbortController()
    const greetings: string[] = []
    const { attempt } = openWeb(async (url, init) => {
      if (init?.method !== 'POST') {
        const body = new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('event: endpoint\ndata: /messages\n\n')),
        })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      }
      if (String(url).endsWith('/mcp')) return new Response('no', { status: 404 })
      greetings.push(JSON.parse(String(init.body)).method)
      stop.abort(new ToolError('ABORTED', 'stopped'))
      return new Response(null, { status: 202 })
    })
    await expect(attempt(server, { known, signal: stop.signal })).rejects.toThrow()
    expect(greetings).toEqual(['initialize'])
  })

  it('at which nobody listens is named', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { attempt } = openWeb(() =>
      Promise.reject(new ToolError('UPSTREAM_ERROR', 'No connection', { cause: refused })),
    )
    await expect(attempt()).rejects.toMatchObject({
      fix: { hint: expect.stringContaining('running at http://mcp.example/mcp?') },
    })
  })
})
