import { getEventListeners } from 'node:events'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { Clock } from '../../../../core/src/context.ts'
import { tailEvents } from './read-events.ts'

let folder: string
beforeEach(() => {
  folder = temporaryFolder('tail-events')
})

const line = (seq: number, type = 'call-late') => `${JSON.stringify({ seq, type })}\n`
const write = (...lines: string[]) => appendFileSync(join(folder, 'events.jsonl'), lines.join(''))

/** A clock whose timers run as soon as something was written. */
function lookingClock(steps: Array<() => void>): { readonly clock: Clock; readonly waits: number[] } {
  const waits: number[] = []
  const clock: Clock = {
    now: () => 0,
    after(ms, run) {
      waits.push(ms)
      steps.shift()!()
      const timer = setImmediate(run)
      return () => clearImmediate(timer)
    },
  }
  return { clock, waits }
}

async function collect(options: Parameters<typeof tailEvents>[1]): Promise<number[]> {
  const seqs: number[] = []
  for await (const { seq } of tailEvents(folder, options)) seqs.push(seq)
  return seqs
}

it('waits for the first event, looks every 200 ms, and ends with the run', async () => {
  writeFileSync(join(folder, 'events.jsonl'), '')
  const { signal } = new AbortController()
  const { clock, waits } = lookingClock([
    () => write(line(1)),
    () => write('noise\n', line(2).slice(0, 5)),
    () => write(line(2).slice(5), line(3, 'run-closed')),
  ])
  expect(await collect({ clock, signal })).toEqual([1, 2, 3])
  expect(waits).toEqual([200, 200, 200])
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('continues over an end that was not the last, and gives events from a number on', async () => {
  write(line(1), line(2, 'run-closed'), line(3), line(4, 'run-closed'))
  expect(await collect({})).toEqual([1, 2, 3, 4])
  expect(await collect({ from: 3 })).toEqual([3, 4])
  write(line(5))
  const { clock } = lookingClock([() => write(line(6, 'run-closed'))])
  expect(await collect({ clock, from: 5 })).toEqual([5, 6])
})

it('ends when the signal aborts while it waits, and leaves no timer', async () => {
  write(line(1))
  const controller = new AbortController()
  let isCancelled = false
  const clock: Clock = {
    now: () => 0,
    after() {
      setImmediate(() => controller.abort())
      return () => {
        isCancelled = true
      }
    },
  }
  expect(await collect({ clock, signal: controller.signal })).toEqual([1])
  expect(isCancelled).toBe(true)
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})
