import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../../test/support/holding-clock.ts'
import { KeptOutput } from './kept-output.ts'
import { LiveOutput, OutputPipe, type OutputPipeOptions } from './output-pipe.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const asIs = () => ({ push: (bytes: Uint8Array) => bytes, end: () => Buffer.alloc(0) })

function openPipe(parts: Partial<OutputPipeOptions> = {}) {
  const clock = holdingClock()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const kept = new KeptOutput({ bound: 10_000 })
  const seen: string[] = []
  const counts = { tooMuch: 0, more: 0 }
  const pipe = new OutputPipe({
    ...{ stdout, stderr, redact: asIs, kept, live: new LiveOutput(clock), clock, maxBytes: 1_000 },
    onTooMuch() {
      counts.tooMuch += 1
    },
    onBytes: (bytes) => void seen.push(bytes.toString()),
    onMore() {
      counts.more += 1
    },
    ...parts,
  })
  const end = async (lastWord?: string) => {
    stdout.end()
    stderr.end()
    await pipe.drain(lastWord)
  }
  return { clock, stdout, stderr, kept, seen, counts, pipe, end }
}

describe('what a command may write', () => {
  it('is all up to the limit, and no byte after it', async () => {
    const exact = openPipe({ maxBytes: 5 })
    exact.stdout.write('abc')
    exact.stderr.write('de')
    await exact.end()
    expect([exact.counts.tooMuch, exact.pipe.bytes, exact.kept.output()]).toMatchObject([
      ...[0, 5, { stdout: 'abc', stderr: 'de' }],
    ])
    const over = openPipe({ maxBytes: 5 })
    over.stdout.write('abcd')
    over.stdout.write('efg')
    await turn()
    over.stdout.write('h')
    await over.end()
    expect([over.counts.tooMuch, over.pipe.bytes, over.seen]).toEqual([1, 5, ['abcd', 'e']])
    expect(over.kept.output()).toMatchObject({
      stdout: 'abcde',
      stderr: '\n[tool-hub: this command was ended: it wrote more than 5 bytes, the limit]\n',
    })
  })

  it('ends with the last word about it, and nothing comes after that', async () => {
    const { stdout, kept, end, pipe } = openPipe()
    stdout.write('a')
    await end('it was stopped')
    expect(kept.output().stderr).toBe('\n[tool-hub: this command was ended: it was stopped]\n')
    await pipe.drain('again')
    expect(kept.output().stderr).not.toContain('again')
  })

  it('is waited for only until it is quiet, where somebody holds the pipe', async () => {
    const { clock, stdout, kept, pipe } = openPipe()
    stdout.write('early')
    await turn()
    let isDrained = false
    const drained = pipe.drain().then(() => {
      isDrained = true
    })
    await clock.advance(99)
    expect(isDrained).toBe(false)
    await clock.advance(1)
    await drained
    expect([kept.output().stdout, stdout.destroyed]).toEqual(['early', true])
  })

  it('is waited for five times at most, where it never is quiet', async () => {
    const { clock, stdout, pipe } = openPipe()
    let isDrained = false
    const drained = pipe.drain().then(() => {
      isDrained = true
    })
    const states: boolean[] = []
    for (let check = 1; check <= 5; check += 1) {
      stdout.write('more')
      await clock.advance(100)
      await turn()
      states.push(isDrained)
    }
    await drained
    expect(states).toEqual([false, false, false, false, true])
  })
})

describe('characters that come in parts', () => {
  it.each([1, 2, 3, 4, 5, 7])('are whole, in pieces of %d bytes of two streams in turn', async (size) => {
    const { stdout, stderr, kept, end } = openPipe()
    const bytes = Buffer.from('a€😀äb'.repeat(9))
    for (let at = 0; at < bytes.length; at += size) {
      stdout.write(bytes.subarray(at, at + size))
      await turn()
      stderr.write(bytes.subarray(at, at + size))
      await turn()
    }
    await end()
    const { stdout: out, stderr: err, tail } = kept.output()
    expect([out, err]).toEqual([bytes.toString(), bytes.toString()])
    expect(tail).not.toContain('\ufffd')
  })

  it('are shown as they are where their rest never comes', async () => {
    const { stdout, kept, end } = openPipe()
    stdout.write(Buffer.from('a€').subarray(0, 3))
    await turn()
    expect(kept.output().stdout).toBe('a')
    await end()
    expect(kept.output().stdout).toBe('a\ufffd')
  })
})

describe('what a redactor holds back', () => {
  const holding = () => {
    let held: Uint8Array = Buffer.alloc(0)
    const release = () => {
      const bytes = held
      held = Buffer.alloc(0)
      return bytes
    }
    const push = (bytes: Uint8Array) => {
      held = Buffer.concat([held, bytes])
      return Buffer.alloc(0)
    }
    return { push, flush: release, end: release }
  }

  it('is shown after 100 ms of silence, by a timer that keeps no process alive', async () => {
    const { clock, stdout, kept } = openPipe({ redact: holding })
    stdout.write('Pass')
    await turn()
    await clock.advance(60)
    stdout.write('word:')
    await turn()
    await clock.advance(99)
    expect(kept.output().stdout).toBe('')
    await clock.advance(1)
    expect([kept.output().stdout, clock.holding]).toEqual(['Password:', 0])
  })

  it('is shown at the end', async () => {
    const { stdout, kept, end, clock } = openPipe({ redact: holding })
    stdout.write('rest')
    await end()
    expect(kept.output().stdout).toBe('rest')
    await clock.advance(1_000)
    expect(clock.waiting).toBe(0)
  })
})

it('makes a command wait while its file is written, and tells of everything once it is', async () => {
  let written = () => {}
  const file = {
    write: () =>
      new Promise<void>((resolve) => {
        written = resolve
      }),
    read: async () => Buffer.alloc(0),
    finish: async () => Promise.reject(new Error('not finished here')),
    discard: async () => {},
  }
  const kept = new KeptOutput({ bound: 3, keepOutput: () => file })
  const { stdout, stderr, counts } = openPipe({ kept })
  stdout.write('abcd')
  await turn()
  expect([stdout.isPaused(), stderr.isPaused(), counts.more]).toEqual([true, true, 1])
  written()
  await turn()
  expect([stdout.isPaused(), stderr.isPaused()]).toEqual([false, false])
})
