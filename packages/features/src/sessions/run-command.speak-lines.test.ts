import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { RunningProgram } from '../../../core/src/commands.ts'
import { speakLines, speakText } from './run-command.ts'
import type { SessionTask, SessionWork } from './runner.ts'
import type { SessionMessage } from './types.ts'

/** A conversation with a program that says what a test tells it. */
function talking(speak = speakLines, more: Partial<SessionWork> = {}) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const [said, called]: [unknown[], unknown[]] = [[], []]
  let heard = ''
  stdin.setEncoding('utf8').on('data', (chunk: string) => {
    heard += chunk
  })
  const work = {
    ...{ id: 's1', label: 'helper', task: 'Work.', tools: [{ name: 't' }] },
    async *messages() {},
    say: async (...words: unknown[]) => void said.push(words),
    call: async (...call: unknown[]) => {
      called.push(call)
      return { ok: true, status: 'ok', content: [{ type: 'text', text: 'x' }], meta: { labels: ['untrusted'] } }
    },
    ...more,
  } as unknown as SessionWork
  const result = speak({ stdin, stdout } as unknown as RunningProgram, { work } as unknown as SessionTask)
  result.catch(() => {})
  const tell = (...lines: unknown[]) => {
    for (const line of lines) stdout.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)
  }
  const told = () =>
    heard
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return { result, stdout, tell, told, said, called, heard: () => heard }
}
const done = { type: 'done', text: 'Fine.' }

describe('a program that speaks a line at a time', () => {
  it('gets its task, calls tools, says things, and is done', async () => {
    const { result, tell, told, said, called } = talking()
    tell({ type: 'call', id: 'c1', tool: 't', input: { a: 1 } }, '\n', { type: 'say', text: 'Hi', replyTo: 'm1' })
    await expect.poll(() => told().length).toBe(2)
    tell(done, { type: 'say', text: 'too late' })
    expect(await result).toBe('Fine.')
    expect(told()).toEqual([
      { type: 'task', session: 's1', label: 'helper', task: 'Work.', tools: [{ name: 't' }] },
      {
        ...{ type: 'result', id: 'c1', ok: true, status: 'ok', content: [{ type: 'text', text: 'x' }] },
        isUntrusted: true,
      },
    ])
    expect(called).toEqual([['t', { a: 1 }]])
    expect(said).toMatchObject([['Hi', { replyTo: 'm1' }]])
  })

  it('gets what others write to it', async () => {
    const message = { id: 'm1', from: 'root', text: 'Well?' } as SessionMessage
    const { result, tell, told } = talking(speakLines, {
      label: undefined,
      async *messages() {
        yield message
      },
    })
    await expect.poll(() => told().length).toBe(2)
    expect(told()[0]).not.toHaveProperty('label')
    expect(told()[1]).toEqual({ type: 'message', ...message })
    tell(done)
    await result
  })

  it('has 32 calls under way, and one more when one is over', async () => {
    const ends: (() => void)[] = []
    const call = () =>
      new Promise<never>((resolve) =>
        ends.push(() => resolve({ ok: true, status: 'ok', content: [], meta: {} } as never)),
      )
    const { result, tell, told } = talking(speakLines, { call })
    const wish = (n: number) => ({ type: 'call', id: `c${n}`, tool: 't', input: {} })
    tell(...Array.from({ length: 32 }, (_, n) => wish(n)))
    await expect.poll(() => ends.length).toBe(32)
    ends[0]!()
    await expect.poll(() => told().length).toBe(2)
    // The call is over when its result was taken, which is one turn of the loop later.
    await new Promise((resolve) => setImmediate(resolve))
    tell(wish(32))
    await expect.poll(() => ends.length).toBe(33)
    tell(wish(33))
    await expect(result).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The runner has more than 32 concurrent calls.',
    })
  })

  const longest = { type: 'call', id: 'x'.repeat(200), tool: 'y'.repeat(200), input: {} }
  it('may use names of 200 characters and texts of 20,000', async () => {
    const { result, tell, said, called } = talking()
    tell(
      longest,
      { ...longest, id: 'a', tool: 'b' },
      { type: 'say', text: 'x'.repeat(20_000), replyTo: 'x'.repeat(100) },
    )
    tell({ type: 'say', text: 'x' }, { type: 'done', text: '' })
    expect(await result).toBe('')
    expect([called.length, said.length]).toEqual([2, 2])
  })

  it.each<[string, unknown]>([
    ['no JSON', 'hello\n'],
    ['another type', { type: 'sing' }],
    ['a call without a name', { ...longest, tool: '' }],
    ['a call without an id', { ...longest, id: '' }],
    ['an id of 201 characters', { ...longest, id: 'x'.repeat(201) }],
    ['a tool of 201 characters', { ...longest, tool: 'x'.repeat(201) }],
    ['an empty text', { type: 'say', text: '' }],
    ['a text of 20,001 characters', { type: 'say', text: 'x'.repeat(20_001) }],
    ['an answer to 101 characters', { type: 'say', text: 'x', replyTo: 'x'.repeat(101) }],
    ['an end without a text', { type: 'done' }],
  ])('is given up when it writes %s', async (_, line) => {
    const { result, tell, said, called } = talking()
    tell(line)
    const shown = JSON.stringify((typeof line === 'string' ? line.trim() : JSON.stringify(line)).slice(0, 200))
    await expect(result).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: `The runner wrote a line that is neither call, say nor done: ${shown}.`,
      fix: { hint: 'See docs/reference/sessions.md for the lines; what is for people belongs on standard error.' },
    })
    expect([said, called]).toEqual([[], []])
  })

  it('is given up when a line has over a million bytes', async () => {
    const { result, tell } = talking()
    tell('x'.repeat(1_000_001))
    await expect(result).rejects.toThrow('The runner wrote too much: a line has over 1000000 bytes.')
    const whole = talking()
    whole.tell(`${JSON.stringify(done).padEnd(1_000_000)}\n`)
    expect(await whole.result).toBe('Fine.')
  })

  it('fails with what its words or its calls fail with', async () => {
    const failing = async () => Promise.reject(new Error('no room'))
    const talks = talking(speakLines, { say: failing, call: failing })
    talks.tell({ type: 'say', text: 'x' })
    await expect(talks.result).rejects.toThrow('no room')
    const calls = talking(speakLines, { say: failing, call: failing })
    calls.tell({ type: 'call', id: 'c', tool: 't', input: {} })
    await expect(calls.result).rejects.toThrow('no room')
  })

  it('has given nothing when its output ends', async () => {
    const { result, stdout } = talking()
    stdout.end()
    expect(await result).toBeUndefined()
  })
})

describe('a program that speaks text', () => {
  it('gets the task, and all that it writes is the result', async () => {
    const { result, stdout, heard } = talking(speakText)
    stdout.write(' did ')
    stdout.end('it\n')
    expect(await result).toBe('did it')
    expect(heard()).toBe('Work.')
  })

  it('says how much of its result was cut after 50,000 characters', async () => {
    const whole = talking(speakText)
    whole.stdout.end('x'.repeat(50_000))
    expect(await whole.result).toBe('x'.repeat(50_000))
    const cut = talking(speakText)
    cut.stdout.write('x'.repeat(49_999))
    cut.stdout.end('yzz')
    expect(await cut.result).toBe(`${'x'.repeat(49_999)}y\n[2 characters were cut]`)
  })
})
