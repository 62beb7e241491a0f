import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { runUrl } from './run-url.ts'
import type { SessionTask, SessionWork, UrlRunner } from './runner.ts'

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status })
const done = { type: 'done', text: 'Fine.' }

/** A service that answers turn by turn. */
function asking(
  turns: readonly (unknown | (() => Promise<Response>))[],
  more: Partial<UrlRunner> = {},
  work: Partial<SessionWork> = {},
) {
  const clock = fakeClock(5_000)
  const [asked, opened, said, hidden]: [RequestInit[], unknown[], unknown[], string[]] = [[], [], [], []]
  const left = [...turns]
  const stop = new AbortController()
  const host = {
    clock,
    hide: (values: readonly string[]) => void hidden.push(...values),
    webFetch: (wish: unknown) => {
      opened.push(wish)
      return async (_: string, init: RequestInit) => {
        asked.push(init)
        const turn = left.length > 1 ? left.shift() : left[0]
        return turn instanceof Response ? turn : typeof turn === 'function' ? turn(init) : json(turn)
      }
    },
  }
  const task = {
    ...{ host, runner: 'default', take: async () => [{ id: 'm1', text: 'Well?' }] },
    work: {
      ...{ id: 's1', task: 'Add.', tools: [], signal: stop.signal },
      say: async (...words: unknown[]) => void said.push(words),
      call: async (tool: string) => ({ ok: true, status: 'ok', content: [{ type: 'text', text: tool }], meta: {} }),
      ...work,
    },
  } as unknown as SessionTask
  const runner: UrlRunner = { type: 'url', url: 'https://agent.example/turn', ...more }
  const run = () => runUrl(runner, task)
  const bodies = () => asked.map(({ body }) => JSON.parse(body as string))
  return { run, asked, bodies, opened, said, hidden, clock, stop }
}

describe('a service that works in a session', () => {
  it('is asked turn by turn, with the results of its calls and what was written meanwhile', async () => {
    const calls = [{ id: 'c1', tool: 'a', input: {} }]
    const world = asking([{ type: 'calls', calls, say: [{ text: 'Hi', replyTo: 'm0' }] }, done], {
      secret: 'sign-with-me',
    })
    expect(await world.run()).toBe('Fine.')
    expect(world.bodies()).toEqual([
      { type: 'task', session: 's1', task: 'Add.', tools: [] },
      {
        ...{ type: 'results', session: 's1', messages: [{ id: 'm1', text: 'Well?' }] },
        results: [{ id: 'c1', ok: true, status: 'ok', content: [{ type: 'text', text: 'a' }] }],
      },
    ])
    expect(world.said).toEqual([['Hi', { replyTo: 'm0' }]])
    expect(world.hidden).toEqual(['sign-with-me'])
    expect(world.asked.map(({ headers }) => (headers as Record<string, string>)['webhook-id'])).toEqual([
      's1-1',
      's1-2',
    ])
    expect(world.asked[0]).toMatchObject({
      ...{ method: 'POST', redirect: 'error' },
      headers: { 'webhook-timestamp': '5', 'webhook-signature': expect.stringMatching(/^v1,/) },
    })
    expect(world.clock.waiting).toBe(0)
  })

  it('is not signed for without a secret, and keeps its connections', async () => {
    const world = asking([done])
    await world.run()
    await world.run()
    expect(world.asked[0]!.headers).not.toHaveProperty('webhook-signature')
    expect(world.opened).toEqual([{ origins: ['https://agent.example'], headersTimeoutMs: 120_000 }])
    const patient = asking([done], { turnTimeoutMs: 7 })
    await patient.run()
    expect(patient.opened).toEqual([{ origins: ['https://agent.example'], headersTimeoutMs: 7 }])
  })

  it('has a hundred turns, or as many as its owner says', async () => {
    for (const [maxTurns, turns] of [
      [undefined, 100],
      [2, 2],
    ] as const) {
      const world = asking([{ type: 'calls', calls: [] }], { maxTurns })
      await expect(world.run()).rejects.toMatchObject({
        ...{ code: 'UPSTREAM_ERROR', message: `The runner was not done after ${turns} turns.` },
      })
      expect(world.asked).toHaveLength(turns)
    }
  })

  it('has two minutes for a turn, or as long as its owner says', async () => {
    for (const [turnTimeoutMs, ms] of [
      [undefined, 120_000],
      [300, 300],
    ] as const) {
      const hang = (init: RequestInit) =>
        new Promise((_, reject) => init.signal!.addEventListener('abort', () => reject(new Error('cut off'))))
      const world = asking([hang], { turnTimeoutMs })
      const running = world.run()
      running.catch(() => {})
      await world.clock.advance(ms - 1)
      expect(world.clock.waiting).toBe(1)
      await world.clock.advance(1)
      await expect(running).rejects.toMatchObject({
        ...{ code: 'HTTP_TIMEOUT', message: `The runner did not end its turn within ${ms} ms.` },
      })
    }
  })

  it('is stopped with its session', async () => {
    const world = asking([
      () => {
        world.stop.abort(new Error('enough'))
        throw new Error('cut off')
      },
    ])
    await expect(world.run()).rejects.toThrow(/^enough$/)
  })

  it('that cannot be reached says so', async () => {
    await expect(asking([() => Promise.reject(new Error('No line.'))]).run()).rejects.toThrow('No line.')
  })

  const call = { id: 'c', tool: 't', input: {} }
  it.each<[string, unknown]>([
    ['32 calls', { type: 'calls', calls: Array(32).fill(call) }],
    ['names of 200 characters', { type: 'calls', calls: [{ ...call, id: 'x'.repeat(200), tool: 'y'.repeat(200) }] }],
    ['20 things to say', { type: 'calls', calls: [], say: Array(20).fill({ text: 'x' }) }],
    [
      'a text of 20,000 characters',
      { type: 'calls', calls: [], say: [{ text: 'x'.repeat(20_000), replyTo: 'x'.repeat(100) }] },
    ],
  ])('may answer with %s', async (_, turn) => {
    expect(await asking([turn, done]).run()).toBe('Fine.')
  })

  it.each<[string, unknown, string]>([
    ['33 calls', { type: 'calls', calls: Array(33).fill(call) }, 'calls'],
    ['an empty id', { type: 'calls', calls: [{ ...call, id: '' }] }, 'calls.0.id'],
    ['an id of 201 characters', { type: 'calls', calls: [{ ...call, id: 'x'.repeat(201) }] }, 'calls.0.id'],
    ['an empty tool', { type: 'calls', calls: [{ ...call, tool: '' }] }, 'calls.0.tool'],
    ['a tool of 201 characters', { type: 'calls', calls: [{ ...call, tool: 'x'.repeat(201) }] }, 'calls.0.tool'],
    ['21 things to say', { ...done, say: Array(21).fill({ text: 'x' }) }, 'say'],
    ['nothing to say', { ...done, say: [{ text: '' }] }, 'say.0.text'],
    ['a text of 20,001 characters', { ...done, say: [{ text: 'x'.repeat(20_001) }] }, 'say.0.text'],
    ['an answer to 101 characters', { ...done, say: [{ text: 'x', replyTo: 'x'.repeat(101) }] }, 'say.0.replyTo'],
    ['another type', { type: 'sing' }, 'type'],
    ['no JSON', new Response('hello'), 'the whole'],
  ])('is given up when it answers with %s', async (_, turn, where) => {
    await expect(asking([turn]).run()).rejects.toMatchObject({
      ...{
        code: 'UPSTREAM_ERROR',
        message: `The runner answered with what is neither calls nor done: ${where} is wrong.`,
      },
      fix: { hint: 'See docs/reference/sessions.md for the turns.' },
    })
  })

  it.each([201, 404, 500])('is given up when it answers with the status %i', async (status) => {
    await expect(asking([json(done, status)]).run()).rejects.toThrow(`The runner answered with the status ${status}.`)
  })

  it('may answer with a million bytes, and no more', async () => {
    const sized = (bytes: number) => new Response(JSON.stringify(done).padEnd(bytes))
    expect(await asking([sized(1_000_000)]).run()).toBe('Fine.')
    await expect(asking([sized(1_000_001)]).run()).rejects.toThrow('The runner answered with over 1000000 bytes.')
  })
})
