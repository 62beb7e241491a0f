import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import type { PinnedConnection } from './pinned-connections.ts'
import { Transfer } from './transfer.ts'

const OPTIONS = { path: '/', method: 'GET' } as const

/** A transfer whose connection only notes what becomes of it; the test speaks for undici. */
function open() {
  const fate: string[] = []
  const connection = {
    dispatch: () => void fate.push('dispatched'),
    release: () => void fate.push('released'),
    destroy: async () => void fate.push('destroyed'),
  } as unknown as PinnedConnection
  const controller = {
    pause: () => void fate.push('paused'),
    resume: () => void fate.push('resumed'),
  } as unknown as Dispatcher.DispatchController
  const transfer = new Transfer(connection)
  const answer = async (headers: Record<string, string | string[]> = {}, status = 200) => {
    const sending = transfer.send(OPTIONS)
    transfer.onRequestStart(controller)
    transfer.onResponseStart(controller, status, headers)
    return sending
  }
  const data = (text: string | Buffer) => transfer.onResponseData(controller, Buffer.from(text))
  return { transfer, controller, fate, answer, data }
}

describe('an answer on a connection', () => {
  it('is there with its headers, repeated ones joined, and not with what only announces it', async () => {
    const { transfer, controller, answer } = open()
    const sending = answer({ early: '1' }, 103)
    transfer.onResponseStart(controller, 200, { 'set-cookie': ['a', 'b'], x: 'y' })
    await sending
    expect([transfer.status, transfer.headers]).toEqual([200, { 'set-cookie': 'a, b', x: 'y' }])
    expect(Object.isFrozen(transfer.headers)).toBe(true)
  })

  it('is collected whole, and its connection goes back', async () => {
    const { transfer, fate, answer, data } = open()
    await answer()
    data('ab')
    const collecting = transfer.collect(10)
    data('cd')
    transfer.onResponseEnd()
    expect(Buffer.concat(await collecting).toString()).toBe('abcd')
    expect(fate).toEqual(['dispatched', 'resumed', 'released'])
    transfer.discard()
    expect(fate).not.toContain('destroyed')
  })

  it.each([
    [4, true],
    [3, false],
    [Number.NaN, false],
  ])('is collected up to a limit of %d bytes', async (limit, isWaiting) => {
    const { transfer, answer, data } = open()
    await answer()
    let isCollected = false
    void transfer.collect(limit).then(() => {
      isCollected = true
    })
    data('abcd')
    await new Promise(setImmediate)
    expect(isCollected).toBe(!isWaiting)
    transfer.onResponseEnd()
  })

  it('is read chunk by chunk, and the server waits once 256 KB are unread', async () => {
    const { transfer, fate, answer, data } = open()
    await answer()
    data(Buffer.alloc(262_144))
    expect(fate).not.toContain('paused')
    data('x')
    expect(fate.filter((what) => what === 'paused')).toHaveLength(1)
    expect((await transfer.next()).value).toHaveLength(262_144)
    data(Buffer.alloc(262_143))
    expect(fate.filter((what) => what === 'paused')).toHaveLength(1)
    data('y')
    expect(fate.filter((what) => what === 'paused')).toHaveLength(2)
    transfer.onResponseEnd()
    const left: number[] = []
    for await (const chunk of transfer) left.push(chunk.length)
    expect(left).toEqual([1, 262_143, 1])
  })

  it('is waited for by who reads it', async () => {
    const { transfer, answer, data } = open()
    await answer()
    const next = transfer.next()
    data('late')
    expect(await next).toEqual({ done: false, value: Buffer.from('late') })
    const last = transfer.next()
    transfer.onResponseEnd()
    expect(await last).toEqual({ done: true, value: undefined })
  })

  it('that breaks fails for who waits, and its connection is closed', async () => {
    const sent = open()
    const sending = sent.transfer.send(OPTIONS)
    sent.transfer.onResponseError(sent.controller, new Error('reset'))
    await expect(sending).rejects.toThrow('reset')
    expect(sent.fate).toEqual(['dispatched', 'destroyed'])
    const read = open()
    await read.answer()
    const next = read.transfer.next()
    read.transfer.abort(new Error('too late'))
    read.transfer.abort(new Error('once more'))
    read.data('ignored')
    read.transfer.onResponseEnd()
    await expect(next).rejects.toThrow('too late')
    expect(read.fate.filter((what) => what !== 'resumed')).toEqual(['dispatched', 'destroyed'])
  })

  it('is never asked for once it was given up', async () => {
    const { transfer, fate } = open()
    transfer.abort(new Error('stopped'))
    await expect(transfer.send(OPTIONS)).rejects.toThrow('stopped')
    expect(fate).toEqual(['destroyed'])
  })

  it('that is given up in the middle closes its connection', async () => {
    const { transfer, fate, answer, data } = open()
    await answer()
    data('ab')
    expect(await transfer.return()).toEqual({ done: true, value: undefined })
    expect(fate.at(-1)).toBe('destroyed')
    await expect(transfer.next()).rejects.toThrow('The body was given up.')
  })
})
