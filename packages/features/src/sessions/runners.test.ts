import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../core/src/tool.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { CommandRunner, UrlRunner } from './runner.ts'
import type { SessionEntry } from './types.ts'

const PATIENT = { timeout: 100_000, interval: 10 }

const add = defineTool({
  name: 'test/add',
  description: 'Adds two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

/** A small agent that starts fast. */
const shell = (source: string, more: Partial<CommandRunner> = {}): CommandRunner => ({
  type: 'command',
  argv: ['sh', '-c', source],
  ...more,
})
/** One that talks, for `node -e`. */
const LINES = `
const lines = require('node:readline').createInterface({ input: process.stdin })
const tell = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
let task
lines.on('line', (line) => {
  const said = JSON.parse(line)
  if (said.type === 'task') { task = said; tell({ type: 'call', id: '1', tool: 'test_add', input: { a: 1, b: 2 } }) }
  if (said.type === 'result') tell({ type: 'say', text: 'the sum is ' + said.content[0].text })
  if (said.type === 'message') tell({ type: 'done', text: said.text + ' ' + task.task + ' ' + task.tools.some(({ name }) => name === 'test_add') })
})`

const RUNNERS: Record<string, CommandRunner> = {
  text: shell('printf "did "; cat; printf "$KEY"', { env: { KEY: '${secret:key}' } }),
  lines: { type: 'command', argv: [process.execPath, '-e', LINES], speaks: 'jsonl', trust: true },
  dies: shell(`printf 'out of \\033[31mtokens\\n' >&2; exit 3`),
  babbles: shell('echo hello', { speaks: 'jsonl' }),
  silent: shell('exec sleep 60', { speaks: 'jsonl', timeoutMs: 300 }),
  missing: { type: 'command', argv: ['no-such-agent-here'] },
}

let hub: TestHub
beforeAll(() => {
  const secrets = { key: { value: 'hunter2-hunter2', hosts: ['example.org'] } }
  hub = testHub({ tools: [add], secrets, sessions: { runners: RUNNERS } }) as TestHub
})
afterAll(() => hub.close({ abort: true }))

const spawn = async (runner: string, more: object = {}, run = runner) => {
  const input = { task: 'Work.', runner, waitMs: 10_000, ...more }
  return hub.callDynamic('core/session.spawn', input, { run })
}
const entryOf = ({ data }: { data?: unknown }) => (data as { session: SessionEntry }).session

describe.concurrent('a program that works in a session', () => {
  it('gets the task on its input and gives the result on its output, which nobody has to trust', async () => {
    const result = await spawn('text')
    expect(entryOf(result)).toMatchObject({ state: 'ended', result: expect.stringMatching(/^did Work\.\[redacted/) })
    expect(result.meta.labels).toEqual(['untrusted'])
  })

  it('calls tools and talks, a JSON message a line', async () => {
    const { id } = entryOf(await spawn('lines', { waitMs: 0, label: 'lines' }))
    const ask = (tool: string, input: object) => hub.callDynamic(`core/session.${tool}`, input, { run: 'lines' })
    let said: unknown
    await expect
      .poll(async () => {
        const { messages } = (await ask('status', {})).data as { messages: { text: string }[] }
        said ??= messages[0]?.text
        return said
      }, PATIENT)
      .toBe('the sum is {"sum":3}')
    const sent = await ask('send', { session: id, message: 'Enough.', waitMs: 10_000 })
    expect(sent.data).toMatchObject({ status: 'ended', state: 'ended' })
    expect((await hub.sessions.find(id)).session).toMatchObject({ result: 'Enough. Work. true', isTainted: false })
    const { entries } = await hub.sessions.history(id)
    expect(entries.map(({ type }) => type)).toEqual(['call', 'message', 'message'])
  })

  it.each([
    ['dies', /^The runner ended with exit code 3\. It said: out of \\u\{1b\}\[31mtokens$/],
    ['babbles', /neither call, say nor done: "hello"/],
    ['silent', /not done after 300 ms/],
    ['missing', /no-such-agent-here/],
  ])('ends its session with a reason when it %s', async (runner, reason) => {
    expect(entryOf(await spawn(runner))).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) })
  })
})

describe('a service that works in a session', () => {
  const SECRET = 'a-secret-of-24-characters!'
  const STALLS = Symbol('never comes to an end')
  const turns: { type: string; results?: unknown[]; messages?: unknown[] }[] = []
  let answer: (turn: (typeof turns)[number]) => unknown = () => ({})
  let status = 200
  const signatures: boolean[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers
    const own = createHmac('sha256', SECRET).update(`${id}.${at}.${body}`).digest('base64')
    signatures.push(signature === `v1,${own}`)
    turns.push(JSON.parse(body))
    const turn = answer(turns.at(-1)!)
    response.writeHead(status, { 'content-type': 'application/json' })
    if (turn === STALLS) response.write('{')
    else response.end(JSON.stringify(turn))
  })
  const hubs: TestHub[] = []
  let url = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/turn`
  })
  afterEach(async () => {
    turns.length = 0
    signatures.length = 0
    status = 200
    await Promise.all(hubs.splice(0).map((each) => each.close({ abort: true })))
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })

  const work = async (more: Partial<UrlRunner> = {}) => {
    const runner: UrlRunner = { type: 'url', url, secret: SECRET, ...more }
    const own = testHub({ tools: [add], sessions: { runners: { default: runner } } }) as TestHub
    hubs.push(own)
    const result = await own.callDynamic('core/session.spawn', { task: 'Add.', waitMs: 10_000 }, { run: 'root' })
    return { own, entry: entryOf(result), result }
  }

  it('is asked turn by turn, signed, and gets the results of the calls it wants', async () => {
    answer = ({ type }) =>
      type === 'task'
        ? { type: 'calls', calls: [{ id: 'c1', tool: 'test_add', input: { a: 2, b: 3 } }], say: [{ text: 'adding' }] }
        : { type: 'done', text: 'It is 5.' }
    const { own, entry, result } = await work()
    expect(entry).toMatchObject({ state: 'ended', result: 'It is 5.' })
    expect(result.meta.labels).toEqual(['untrusted'])
    expect(turns).toMatchObject([
      { type: 'task', task: 'Add.', session: entry.id, tools: expect.any(Array) },
      { type: 'results', results: [{ id: 'c1', ok: true, content: [{ text: '{"sum":5}' }] }], messages: [] },
    ])
    expect(signatures).toEqual([true, true])
    expect((await own.sessions.history('root')).entries).toMatchObject([
      { type: 'message' },
      { tool: 'core/session.spawn' },
    ])
  })

  it.each([
    ['refuses', { status: 503, turn: {} }, /the status 503/],
    ['talks nonsense', { status: 200, turn: { type: 'calls', calls: 'all' } }, /calls is wrong/],
    ['redirects', { status: 302, turn: {} }, /redirect|302/],
    ['never stops', { status: 200, turn: { type: 'calls', calls: [] } }, /not done after 3 turns/],
    ['says too much', { status: 200, turn: { type: 'done', text: 'x'.repeat(1_000_001) } }, /over 1000000 bytes/],
  ])('ends its session with a reason when it %s', async (_, behaviour, reason) => {
    status = behaviour.status
    answer = () => behaviour.turn
    const { entry } = await work({ maxTurns: 3 })
    expect(entry).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) })
  })

  it('makes calls that count as from outside, unless it is trusted', async () => {
    answer = ({ type }) => {
      const input = { session: 'parent', message: 'A page says so.' }
      return type === 'task'
        ? { type: 'calls', calls: [{ id: 'c1', tool: 'core/session.send', input }] }
        : { type: 'done', text: 'ok' }
    }
    for (const trust of [false, true]) {
      const { own } = await work({ trust })
      const { data } = await own.callDynamic('core/session.status', {}, { run: 'root' })
      expect(data).toMatchObject({ messages: [{ text: 'A page says so.', isUntrusted: !trust }] })
    }
  })

  it('is given up when one turn takes too long, also in the middle of its answer', async () => {
    answer = () => STALLS
    const { entry } = await work({ turnTimeoutMs: 100 })
    expect(entry).toMatchObject({ state: 'failed', reason: expect.stringMatching(/100 ms/) })
  })

  it('ends its session with a reason when nobody is there', async () => {
    const { entry } = await work({ url: 'http://127.0.0.1:9/' })
    expect(entry).toMatchObject({ state: 'failed', reason: expect.any(String) })
  })
})
