import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import type { Runtime } from '../runtime.ts'
import { Call, emitEvent, untilStopped, withinTimeout } from './call.ts'
import { StartQueue } from './record.ts'

const newCall = (id = '1') => new Call({ id, run: 'r', wire: 'w', caller: 'c', options: {}, input: {} })
const never = () => new Promise<string>(() => {})
const stopped = new ToolError('ABORTED', 'stopped')

describe('work that a call waits for', () => {
  it('returns what it returns or throws what it throws, and a later abort has no effect', async () => {
    const call = newCall()
    expect(await untilStopped(call, Promise.resolve('done'))).toBe('done')
    await expect(untilStopped(call, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    await new Promise(setImmediate)
    expect(call.onAbort).toBeUndefined()
  })

  it('is not waited for when the call is stopped, before or meanwhile', async () => {
    const call = newCall()
    const waiting = untilStopped(call, never())
    call.abort(stopped)
    await expect(waiting).rejects.toBe(stopped)
    expect(call.onAbort).toBeUndefined()
    await expect(untilStopped(call, never())).rejects.toBe(stopped)
  })

  it('is not waited for either when it begins as soon as other work has ended', async () => {
    const call = newCall()
    await untilStopped(call, Promise.resolve())
    const waiting = untilStopped(call, never())
    await new Promise(setImmediate)
    call.abort(stopped)
    await expect(waiting).rejects.toBe(stopped)
  })

  it('is given up after the time limit of the hub', async () => {
    const clock = fakeClock()
    const runtime = { clock, settings: { timeoutMs: 500 } } as unknown as Runtime
    const call = newCall()
    let end: unknown
    const waiting = withinTimeout(runtime, call, never(), 'its schema').catch((error) => {
      end = error
    })
    await clock.advance(499)
    expect(end).toBeUndefined()
    await clock.advance(1)
    await waiting
    expect(end).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('500 ms') })
    expect(call.abortReason).toBe(end)
    expect(await withinTimeout(runtime, newCall(), Promise.resolve('done'), 'its schema')).toBe('done')
    expect(clock.waiting).toBe(0)
  })
})

describe('the start of a call without effects', () => {
  it('is recorded when it still runs after 50 ms, with all that do by then, once', async () => {
    const clock = fakeClock()
    const queue = new StartQueue(clock)
    const recorded: string[] = []
    const add = (id: string, change: (call: Call) => void = () => {}) => {
      const call = newCall(id)
      queue.add(call, (open) => recorded.push(open.id))
      change(call)
    }
    add('1')
    add('ended', (call) => call.end())
    add('known', (call) => {
      call.recorded = 'start'
    })
    await clock.advance(49)
    add('2')
    expect([recorded, clock.waiting]).toEqual([[], 1])
    await clock.advance(1)
    expect([recorded, clock.waiting]).toEqual([['1', '2'], 0])
    add('3')
    await clock.advance(50)
    expect(recorded).toEqual(['1', '2', '3'])
  })

  it('keeps no process alive', () => {
    const options: unknown[] = []
    const clock = { now: () => 0, after: (...args: unknown[]) => void options.push(args[2]) }
    new StartQueue(clock as never).add(newCall(), () => {})
    expect(options).toEqual([{ background: true }])
  })
})

describe('what happens in a call', () => {
  it('is sent to the caller that streams it and to all watchers, whether or not the former throws', async () => {
    const told: unknown[] = []
    const runtime = { calls: { listeners: new Set([(event: unknown) => told.push(event)]) } } as unknown as Runtime
    const event = { type: 'call-started', callId: '1', tool: 'w' } as const
    emitEvent(runtime, newCall(), event)
    const emit = () => {
      told.push('streamed')
      throw new Error('listener')
    }
    const thrown = new Promise((resolve) => {
      // Without the listeners of the test runner, which would report it.
      const listeners = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const listener of listeners) process.on('uncaughtException', listener)
        resolve(error.message)
      })
    })
    emitEvent(runtime, new Call({ id: '1', run: 'r', wire: 'w', caller: 'c', options: {}, input: {}, emit }), event)
    expect(told).toEqual([event, 'streamed', event])
    expect(await thrown).toBe('listener')
  })
})
