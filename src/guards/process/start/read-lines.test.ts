import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { holdingClock } from '../../../../test/support/holding-clock.ts'
import { noJail } from '../../../../test/support/made-jails.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { readLines } from './read-lines.ts'
import { Refill } from './refill.ts'
import { seedKey } from './seed-key.ts'

it('calls for every whole line, however it comes', () => {
  const stream = new PassThrough()
  const lines: string[] = []
  readLines(stream, (line) => lines.push(line))
  const bytes = Buffer.from('one\ntwö\n\nrest')
  for (const at of bytes.keys()) stream.write(bytes.subarray(at, at + 1))
  expect(lines).toEqual(['one', 'twö', ''])
  stream.write(' of it\nlast\nx')
  expect(lines).toEqual(['one', 'twö', '', 'rest of it', 'last'])
})

it('lets sandboxes share a prewarmed process only where all that it fixes is the same', () => {
  const jail = { ...noJail(), env: { A: '1', B: '2' } }
  expect(seedKey({ ...jail, env: { B: '2', A: '1' }, file: '/other', args: [], key: 'k' })).toBe(seedKey(jail))
  const seccomp = (fd: number, program: string) => ({ seccomp: { fd, program: Buffer.from(program) } })
  const others = [
    ...[{ level: 'full' as const }, { env: { A: '1' } }, { companion: ['x'] }, { hasPrivateMounts: true }],
    ...[seccomp(3, 'a'), seccomp(4, 'a'), seccomp(3, 'b'), { limits: { ...jail.limits, processes: 7 } }],
  ]
  const keys = [{}, ...others].map((parts) => seedKey({ ...jail, ...parts }))
  expect(new Set(keys).size).toBe(others.length + 1)
  expect(seedKey({ ...jail, companion: ['y'] })).toBe(seedKey({ ...jail, companion: ['x'] }))
})

it('makes sandboxes ahead when nothing runs, or a moment later, each kind once', async () => {
  const clock = holdingClock()
  const filled: string[] = []
  const refill = new Refill(({ key }) => filled.push(key), clock)
  const jail = (key: string) => ({ ...noJail(), key })
  refill.want(jail('idle'))
  expect(filled.splice(0)).toEqual(['idle'])
  let end = () => {}
  refill.during(
    new Promise<void>((resolve) => {
      end = resolve
    }),
  )
  for (const key of ['a', 'b', 'a']) refill.want(jail(key))
  expect([filled.length, clock.waiting, clock.holding]).toEqual([0, 1, 0])
  await clock.advance(9)
  expect(filled).toEqual([])
  await clock.advance(1)
  expect(filled.splice(0)).toEqual(['a', 'b'])
  refill.want(jail('c'))
  end()
  await clock.advance(0)
  expect([filled.splice(0), clock.waiting]).toEqual([['c'], 0])
  refill.want(jail('d'))
  expect(filled).toEqual(['d'])
})

it('lets a command start although none can be made ahead', () => {
  const refill = new Refill(() => {
    throw new Error('none left')
  }, fakeClock())
  expect(() => refill.want(noJail())).not.toThrow()
})
