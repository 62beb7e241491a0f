import { PassThrough, Writable } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import type { ProgramEnd } from '../../../core/src/commands.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { ProgramTransport } from './program-transport.ts'

const turn = () => new Promise(setImmediate)
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const
const progress = (number: number) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { number } }) as const
const HINT = 'It is started again by itself; look at it with: tool-hub mcp test s.'

/** A program whose pipes are in the hands of the test. */
async function open({ failure }: { failure?: Error } = {}) {
  const clock = fakeClock()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const written: string[] = []
  const stdin = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk))
      done(failure)
    },
  })
  const stops: (number | undefined)[] = []
  let end: (end: ProgramEnd) => void = () => {}
  const ended = new Promise<ProgramEnd>((resolve) => (end = resolve))
  const program = {
    pid: 42,
    sandbox: 'none' as const,
    stdin,
    stdout,
    stderr,
    ended,
    stop: async ({ graceMs }: { graceMs?: number } = {}) => void stops.push(graceMs),
  }
  const transport = new ProgramTransport({ server: 's', program, clock, parse: deserializeMessage })
  const messages: JSONRPCMessage[] = []
  const errors: Error[] = []
  let closed = 0
  transport.onmessage = (message) => void messages.push(message)
  transport.onerror = (error) => void errors.push(error)
  transport.onclose = () => void closed++
  await transport.start()
  return { transport, clock, stdout, stderr, written, stops, end, messages, errors, closed: () => closed }
}

describe('a program that speaks MCP over its standard input and output', () => {
  it('gets a message a line, and is heard line by line', async () => {
    const { transport, written, stdout, messages, errors } = await open()
    expect([transport.pid, transport.stderr]).toEqual([42, null])
    await transport.send(ping)
    expect(written).toEqual([`${JSON.stringify(ping)}\n`])
    const [one, two] = [JSON.stringify(ping), JSON.stringify({ ...ping, id: 2 })]
    stdout.write(`${one}\n\n  \n${two.slice(0, 9)}`)
    await turn()
    expect(messages).toEqual([ping])
    stdout.write(`${two.slice(9)}\r\n`)
    await turn()
    expect(messages).toEqual([ping, { ...ping, id: 2 }])
    expect(errors).toEqual([])
  })

  it('has its notifications heard one at a time, in order, before the answer behind them', async () => {
    const { transport, stdout } = await open()
    const order: string[] = []
    transport.onmessage = (message) => {
      const name = 'id' in message ? 'answer' : `progress ${(message as ReturnType<typeof progress>).params.number}`
      order.push(name)
      queueMicrotask(() => order.push(`after ${name}`))
    }
    const answer = { jsonrpc: '2.0', id: 1, result: {} }
    stdout.write([progress(1), progress(2), answer].map((message) => `${JSON.stringify(message)}\n`).join(''))
    await turn()
    expect(order).toEqual([
      'progress 1',
      'after progress 1',
      'progress 2',
      'after progress 2',
      'answer',
      'after answer',
    ])
    order.length = 0
    stdout.write(`${JSON.stringify(answer)}\n${JSON.stringify(answer)}\n`)
    await turn()
    expect(order).toEqual(['answer', 'answer', 'after answer', 'after answer'])
  })

  it('hears in order what comes while something is still being told', async () => {
    const { stdout, messages } = await open()
    stdout.write(`${JSON.stringify(progress(1))}\n${JSON.stringify(progress(2))}\n`)
    stdout.write(`${JSON.stringify(progress(3))}\n`)
    await turn()
    stdout.write(`${JSON.stringify(progress(4))}\n`)
    await turn()
    expect(messages).toEqual([1, 2, 3, 4].map(progress))
  })

  it('tells the last of what is no MCP, and what the program said about itself', async () => {
    const { transport, stdout, stderr, messages, errors } = await open()
    expect(transport.describeOutput()).toBe('')
    stdout.write('first\nnot "json"\u{1b}\n')
    await turn()
    expect(errors).toHaveLength(2)
    expect(transport.describeOutput()).toBe(' It wrote what is no MCP: "not \\"json\\"\\\\u{1b}".')
    stderr.write('broken\n')
    await turn()
    expect(transport.describeOutput()).toBe(' It wrote what is no MCP: "not \\"json\\"\\\\u{1b}". It said: broken')
    stdout.write(`${JSON.stringify(ping)}\n`)
    await turn()
    expect(messages).toEqual([ping])
    expect(transport.describeOutput()).toBe(' It said: broken')
    stdout.write(`${'x'.repeat(201)}\n`)
    await turn()
    expect(transport.describeOutput()).toBe(` It wrote what is no MCP: "${'x'.repeat(200)}". It said: broken`)
  })

  it('tells the last ten lines and 1,000 characters of what the program said', async () => {
    const { transport, stderr } = await open()
    stderr.write(Array.from({ length: 12 }, (_, line) => `line ${line}\n`).join(''))
    await turn()
    expect(transport.describeOutput()).toBe(
      ` It said: ${Array.from({ length: 10 }, (_, line) => `line ${line + 2}`).join('\n')}`,
    )
    stderr.write('x'.repeat(1_001))
    await turn()
    expect(transport.describeOutput()).toBe(` It said: ${'x'.repeat(1_000)}`)
  })

  it('is stopped within half a second for each step when it is closed, and hears nothing more', async () => {
    const { transport, stdout, stops, closed, messages } = await open()
    await transport.close()
    await transport.close()
    expect(new Set(stops)).toEqual(new Set([500]))
    expect([closed(), transport.reason]).toEqual([1, undefined])
    stdout.write(`${JSON.stringify(ping)}\nnoise\n`)
    await turn()
    expect([messages, transport.describeOutput()]).toEqual([[], ''])
    await expect(transport.send(ping)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 's was closed.',
      fix: { hint: HINT },
    })
  })

  it.each([
    [{ code: 3, signal: null }, 's ended with exit code 3. It said: fatal'],
    [{ code: 0, signal: null }, 's ended with exit code 0. It said: fatal'],
    [{ code: null, signal: 'SIGKILL' }, 's was ended by SIGKILL. It said: fatal'],
  ])('tells with what the program ended: %j', async (ended, message) => {
    const { transport, stdout, stderr, end, stops, closed } = await open()
    stdout.end()
    end(ended)
    await turn()
    expect(closed()).toBe(0)
    stderr.end('fatal')
    await expect.poll(closed).toBe(1)
    expect(transport.reason).toMatchObject({ code: 'UPSTREAM_ERROR', message, retryable: true, fix: { hint: HINT } })
    expect(stops).toEqual([500])
    await expect(transport.send(ping)).rejects.toBe(transport.reason)
  })

  it('waits half a second for the end of a program that closed its output', async () => {
    const { transport, clock, stdout, closed } = await open()
    stdout.end()
    await turn()
    await clock.advance(499)
    expect(closed()).toBe(0)
    await clock.advance(1)
    expect(closed()).toBe(1)
    expect(transport.reason?.message).toBe('s closed its output.')
  })

  it('waits half a second for the last words of a program that ended', async () => {
    const { transport, clock, stdout, end, closed } = await open()
    stdout.end()
    end({ code: 1, signal: null })
    await turn()
    await clock.advance(499)
    expect(closed()).toBe(0)
    await clock.advance(1)
    expect(transport.reason?.message).toBe('s ended with exit code 1.')
  })

  it('knows why a program is over when it is closed before that is reported', async () => {
    const { transport, stdout, stderr, end } = await open()
    stdout.end()
    await turn()
    const closing = transport.close()
    end({ code: 9, signal: null })
    stderr.end()
    await closing
    expect(transport.reason?.message).toBe('s ended with exit code 9.')
  })

  it('ends a call where the program takes no input, and says why when it is closed', async () => {
    const { transport, stdout, stderr, end } = await open({ failure: new Error('EPIPE') })
    await expect(transport.send(ping)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 's does not take any more input.',
    })
    end({ code: 2, signal: null })
    stdout.end()
    stderr.end()
    await transport.close()
    expect(transport.reason?.message).toBe('s ended with exit code 2.')
  })

  it('ends with a line that has over ten million bytes', async () => {
    const { transport, stdout, stops, closed } = await open()
    stdout.write(Buffer.alloc(10_000_001, 'x'))
    await turn()
    expect(closed()).toBe(1)
    expect(stops).toEqual([500])
    expect(transport.reason?.message).toBe('s wrote more than a message may have: a line has over 10000000 bytes.')
  })

  it('ends where what it is given cannot be handled', async () => {
    const { transport, stdout } = await open()
    transport.onerror = () => {
      throw new Error('a defect')
    }
    stdout.write('noise\n')
    await turn()
    expect(transport.reason?.message).toBe('s cannot be read. It wrote what is no MCP: "noise".')
  })
})
