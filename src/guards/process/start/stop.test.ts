import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { fullJail, noJail, processesWith, until, workspace } from '../../../../test/support/made-jails.ts'
import type { Jail } from '../jail/jail.ts'
import { createStarter } from './create-starter.ts'
import type { StartOrder } from './started.ts'

const starter = createStarter()
afterAll(() => starter.close())

/** Ways to outlive a signal; `$0` is a text that only this test has. */
const STUBBORN = {
  plain: 'exec sleep "$0"',
  'in a session of its own': 'setsid sleep "$0" & echo; wait',
  'an orphan': '(setsid sleep "$0" &) ; exec sleep "$0"',
  'deaf to SIGTERM': 'trap "" TERM; while :; do sleep "$0"; done',
  stopped: `sleep "$0" & sh -c 'kill -STOP $$' "$0" & kill -STOP $$`,
}

describe.each(['full', 'none'])('stopping at level %s', (level) => {
  const order = async (line: string): Promise<StartOrder & { mark: string }> => {
    const cwd = await workspace()
    const jail: Jail = level === 'full' ? fullJail(cwd) : noJail()
    const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
    return { jail, words: ['sh', '-c', line, mark], cwd, env: {}, pty: false, mark }
  }

  it.each(Object.entries(STUBBORN))('leaves nothing of a command that is %s', async (_, line) => {
    const { mark, ...asked } = await order(line)
    const started = await starter.start(asked, new AbortController().signal)
    await until(async () => (await processesWith(`sleep\0${mark}`)).length > 0)
    await started.stop()
    expect(await processesWith(mark)).toEqual([])
    expect((await started.exited).signal).toMatch(/SIGTERM|SIGKILL/)
  })

  it('lets a command end in its own way first', async () => {
    const { mark: _, ...asked } = await order('trap "echo bye; exit 4" TERM; echo; while :; do sleep 0.01; done')
    const started = await starter.start(asked, new AbortController().signal)
    const out = text(started.stdout)
    await new Promise((resolve) => started.stdout.once('data', resolve))
    await started.stop()
    expect([await out, await started.exited]).toEqual(['\nbye\n', { exitCode: 4 }])
  })

  it('is what an abort does, before the start, during it, while the command runs and after its end', async () => {
    const { mark, ...asked } = await order('exec sleep "$0"')
    const before = AbortSignal.abort()
    await expect(starter.start(asked, before)).rejects.toMatchObject({ code: 'ABORTED' })

    const during = new AbortController()
    const starting = starter.start(asked, during.signal)
    during.abort()
    await expect(starting).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await processesWith(mark)).toEqual([])

    const running = new AbortController()
    const started = await starter.start(asked, running.signal)
    running.abort()
    expect(await started.exited).toEqual({ signal: 'SIGTERM' })
    expect(await processesWith(mark)).toEqual([])

    const after = new AbortController()
    const over = await starter.start({ ...asked, words: ['true'] }, after.signal)
    expect(await over.exited).toEqual({ exitCode: 0 })
    after.abort()
    await over.stop()
  })

  it('takes with it what a command leaves behind when it ends by itself', async () => {
    const { mark, ...asked } = await order('setsid sleep "$0" & (setsid sleep "$0" &); exit 0')
    const started = await starter.start(asked, new AbortController().signal)
    expect(await started.exited).toEqual({ exitCode: 0 })
    expect(await processesWith(mark)).toEqual([])
  })
})

it('ends everything when the starter is closed, and starts nothing any more', async () => {
  const other = createStarter()
  const cwd = await workspace()
  const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
  const asked = { jail: fullJail(cwd), words: ['sleep', mark], cwd, env: {}, pty: false }
  const started = await other.start(asked, new AbortController().signal)
  await other.close()
  expect(await processesWith(mark)).toEqual([])
  expect(await processesWith(cwd)).toEqual([])
  expect(await started.exited).toEqual({ signal: 'SIGKILL' })
  await expect(other.start(asked, new AbortController().signal)).rejects.toMatchObject({ code: 'ABORTED' })
})
