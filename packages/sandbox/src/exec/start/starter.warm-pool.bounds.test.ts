import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../../test/support/holding-clock.ts'
import { noSandbox } from '../../../../../test/support/made-sandboxes.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { forEachLine } from './protocol.ts'
import type { SandboxHandle } from './sandbox-handle.ts'
import { prewarmKey, Refill, WarmPool } from './starter.ts'

/** A pool whose sandboxes are only counted. */
function poolOf(bounds: { maxKinds: number; enough: number; batch: number }) {
  const clock = holdingClock()
  const made: { key: string; stops: number; end: () => void; sandbox: SandboxHandle; hasFailed: boolean }[] = []
  const pool = new WarmPool({
    ...bounds,
    clock,
    keyOf: ({ key }) => key,
    open({ key }) {
      let end = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const entry = { key, stops: 0, end, hasFailed: false, sandbox: undefined as unknown as SandboxHandle }
      entry.sandbox = {
        ended,
        get hasFailed() {
          return entry.hasFailed
        },
        async stop() {
          entry.stops += 1
        },
      } as unknown as SandboxHandle
      made.push(entry)
      return entry.sandbox
    },
  })
  const sandbox = (key: string) => ({ ...noSandbox(), key })
  const living = () => made.filter(({ stops }) => stops === 0).map(({ key }) => key)
  return {
    clock,
    made,
    living,
    fill: (key: string) => pool.fill(sandbox(key)),
    take: (key: string) => pool.take(sandbox(key)),
  }
}

describe('a pool of sandboxes', () => {
  it('creates a batch, until there are enough', () => {
    const { fill, made, take } = poolOf({ maxKinds: 9, enough: 3, batch: 2 })
    fill('a')
    expect(made).toHaveLength(2)
    fill('a')
    expect(made).toHaveLength(4)
    fill('a')
    expect(made).toHaveLength(4)
    take('a')
    fill('a')
    expect(made).toHaveLength(4)
    take('a')
    fill('a')
    expect(made).toHaveLength(6)
  })

  it('hands out each once, the oldest first, and none that has failed or ended', async () => {
    const { fill, made, take } = poolOf({ maxKinds: 9, enough: 1, batch: 4 })
    fill('a')
    expect(take('b')).toBeUndefined()
    made[0]!.hasFailed = true
    made[1]!.end()
    await new Promise(setImmediate)
    expect([take('a'), take('a'), take('a')]).toEqual([made[2]!.sandbox, made[3]!.sandbox, undefined])
  })

  it('ends one that nobody needed for 30 seconds, by a timer that keeps no process alive', async () => {
    const { clock, fill, made, living, take } = poolOf({ maxKinds: 9, enough: 1, batch: 2 })
    fill('a')
    const taken = take('a')
    await clock.advance(29_999)
    expect(living()).toEqual(['a', 'a'])
    await clock.advance(1)
    expect(made.map(({ sandbox, stops }) => [sandbox === taken, stops])).toEqual([
      [true, 0],
      [false, 1],
    ])
    expect([take('a'), clock.waiting, clock.holding]).toEqual([undefined, 0, 0])
  })

  it('keeps a limited number of kinds, the most recently used', () => {
    const { clock, fill, living } = poolOf({ maxKinds: 2, enough: 1, batch: 1 })
    for (const key of ['a', 'b', 'a', 'c']) fill(key)
    expect(living()).toEqual(['a', 'c'])
    expect(clock.waiting).toBe(2)
  })
})

it('reports every complete line, however it arrives', () => {
  const stream = new PassThrough()
  const lines: string[] = []
  forEachLine(stream, (line) => lines.push(line))
  const bytes = Buffer.from('one\ntwö\n\nrest')
  for (const at of bytes.keys()) stream.write(bytes.subarray(at, at + 1))
  expect(lines).toEqual(['one', 'twö', ''])
  stream.write(' of it\nlast\nx')
  expect(lines).toEqual(['one', 'twö', '', 'rest of it', 'last'])
})

it('lets sandboxes share a prewarmed process only if everything that it fixes is the same', () => {
  const sandbox = { ...noSandbox(), env: { A: '1', B: '2' } }
  expect(prewarmKey({ ...sandbox, env: { B: '2', A: '1' }, file: '/other', args: [], key: 'k' })).toBe(
    prewarmKey(sandbox),
  )
  const seccomp = (fd: number, program: string) => ({ seccomp: { fd, program: Buffer.from(program) } })
  const others = [
    ...[{ level: 'full' as const }, { env: { A: '1' } }, { helper: ['x'] }, { hasPrivateMounts: true }],
    ...[seccomp(3, 'a'), seccomp(4, 'a'), seccomp(3, 'b'), { limits: { ...sandbox.limits, processes: 7 } }],
  ]
  const keys = [{}, ...others].map((parts) => prewarmKey({ ...sandbox, ...parts }))
  expect(new Set(keys).size).toBe(others.length + 1)
  expect(prewarmKey({ ...sandbox, helper: ['y'] })).toBe(prewarmKey({ ...sandbox, helper: ['x'] }))
})

it('creates warm sandboxes when nothing runs, or a moment later, each kind once', async () => {
  const clock = holdingClock()
  const filled: string[] = []
  const refill = new Refill(({ key }) => filled.push(key), clock)
  const sandbox = (key: string) => ({ ...noSandbox(), key })
  refill.want(sandbox('idle'))
  expect(filled.splice(0)).toEqual(['idle'])
  let end = () => {}
  refill.during(
    new Promise<void>((resolve) => {
      end = resolve
    }),
  )
  for (const key of ['a', 'b', 'a']) refill.want(sandbox(key))
  expect([filled.length, clock.waiting, clock.holding]).toEqual([0, 1, 0])
  await clock.advance(9)
  expect(filled).toEqual([])
  await clock.advance(1)
  expect(filled.splice(0)).toEqual(['a', 'b'])
  refill.want(sandbox('c'))
  end()
  await clock.advance(0)
  expect([filled.splice(0), clock.waiting]).toEqual([['c'], 0])
  refill.want(sandbox('d'))
  expect(filled).toEqual(['d'])
})

it('lets a command start although no warm sandbox can be created', () => {
  const refill = new Refill(() => {
    throw new Error('none left')
  }, fakeClock())
  expect(() => refill.want(noSandbox())).not.toThrow()
})
