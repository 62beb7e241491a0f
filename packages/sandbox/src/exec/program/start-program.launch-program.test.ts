import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import type { Exit } from '../start/protocol.ts'
import type { CommandProcess } from '../start/sandbox-handle.ts'
import { ProgramHandle } from './start-program.ts'

/** A program that ends when the test says so. */
function programOf({ leaves = async () => {} }: { leaves?: () => Promise<void> } = {}) {
  const clock = fakeClock()
  let end = (_: Exit) => {}
  let lose = (_: Error) => {}
  const exited = new Promise<Exit>((resolve, reject) => {
    end = resolve
    lose = reject
  })
  const stops: (number | undefined)[] = []
  let left = 0
  const started = {
    ...{ stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), exited },
    ...{ pid: 4_194_999, stop: async (graceMs?: number) => void stops.push(graceMs) },
  }
  const handle = new ProgramHandle({
    process: started as unknown as CommandProcess,
    level: 'full',
    clock,
    async release() {
      left += 1
      await leaves()
    },
  })
  return {
    handle,
    clock,
    stops,
    end: (exit: Exit) => end(exit),
    lose: () => lose(new Error('lost')),
    left: () => left,
    started,
  }
}

describe('a program that runs', () => {
  it('ends with its code or its signal, and releases what was opened for it', async () => {
    const ended = programOf()
    expect([ended.handle.pid, ended.handle.sandbox]).toEqual([4_194_999, 'full'])
    ended.end({ exitCode: 3 })
    expect([await ended.handle.ended, ended.left()]).toEqual([{ code: 3, signal: null }, 1])
    const killed = programOf({ leaves: () => Promise.reject(new Error('litter')) })
    killed.end({ signal: 'SIGTERM' })
    expect(await killed.handle.ended).toEqual({ code: null, signal: 'SIGTERM' })
    const lost = programOf()
    lost.lose()
    expect(await lost.handle.ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it.each([
    [undefined, 2_000],
    [50, 50],
    [0, 0],
    [-5, 0],
    [Number.NaN, 0],
    [1.6, 2],
    [1e9, 600_000],
  ])('is given %d ms after its input has ended, and as long again to stop', async (graceMs, waitMs) => {
    const { handle, clock, stops, end, started } = programOf()
    const stopping = handle.stop(graceMs === undefined ? {} : { graceMs })
    expect(started.stdin.writableEnded).toBe(true)
    if (waitMs > 0) {
      await clock.advance(waitMs - 1)
      expect(stops).toEqual([])
    }
    await clock.advance(1)
    expect(stops).toEqual([waitMs])
    end({ signal: 'SIGKILL' })
    await stopping
    expect([started.stdout.destroyed, started.stderr.destroyed]).toEqual([true, true])
  })

  it('is not stopped where it ends by itself, and what somebody reads stays', async () => {
    const { handle, clock, stops, end, started } = programOf()
    started.stdout.on('data', () => {})
    const stopping = handle.stop()
    end({ exitCode: 0 })
    await stopping
    expect([stops, clock.waiting, started.stdout.destroyed, started.stderr.destroyed]).toEqual([[], 0, false, true])
  })
})
