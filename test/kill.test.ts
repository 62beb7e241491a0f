import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { createStarter } from '../packages/sandbox/src/exec/start/starter.ts'
import { fullSandbox, processesWith, reusableSandbox, workspace } from './support/made-sandboxes.ts'

const starter = createStarter()
afterAll(() => starter.close())

const RUNS = 1_000
const AT_ONCE = 16

/** Ways to outlive a signal; `$0` is a text that only this test has. Each says a line when it is there. */
const VARIANTS = [
  'echo; exec sleep "$0"',
  'setsid sleep "$0" & echo; wait',
  '(setsid sh -c \'sleep "$0" & exec sleep "$0"\' "$0" &); echo; exec sleep "$0"',
  'trap "" TERM INT HUP; echo; while :; do sleep "$0"; done',
  `sh -c 'kill -STOP $$' "$0" & echo; kill -STOP $$`,
]

const SANDBOXES = [
  ['each in a sandbox of its own', fullSandbox, RUNS],
  ['in sandboxes that have run another command', reusableSandbox, RUNS / 10],
] as const

it.each(SANDBOXES)(
  'leaves no command behind, all that each has started gone after the abort: %s',
  async (_, sandboxOf, runs) => {
    const cwd = await workspace()
    const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
    let next = 0
    const runSome = async () => {
      while (next < runs) {
        const line = VARIANTS[next++ % VARIANTS.length]!
        const abort = new AbortController()
        const order = { sandbox: sandboxOf(cwd), words: ['sh', '-c', line, mark], cwd, env: {}, pty: false, run: 'one' }
        if (order.sandbox.isReusable) await (await starter.start({ ...order, words: ['true'] }, abort.signal)).exited
        const started = await starter.start(order, abort.signal)
        await new Promise((resolve) => started.stdout.once('data', resolve))
        abort.abort()
        // By itself it would end after a quarter of an hour.
        await started.exited
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, runSome))
    expect(await processesWith(mark)).toEqual([])
  },
)
