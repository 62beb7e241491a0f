import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestDisk } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { Clock } from '../../../../core/src/context.ts'
import type { Durability } from '../../../../core/src/options.ts'
import { AppendFile, WriteSchedule } from './append-file.ts'

let path: string
beforeEach(() => {
  path = join(temporaryFolder('write-schedule'), 'lines')
})

function schedule({ durability = 'effects' as Durability, left = Number.POSITIVE_INFINITY } = {}) {
  const timers: Array<{
    readonly ms: number
    readonly run: () => void
    readonly options: unknown
    isCancelled: boolean
  }> = []
  const clock: Clock = {
    now: () => 0,
    after(ms, run, options) {
      const timer = { ms, run, options, isCancelled: false }
      timers.push(timer)
      return () => {
        timer.isCancelled = true
      }
    },
  }
  const disk = new TestDisk({ left })
  const file = new AppendFile(path, disk)
  const problems: string[] = []
  const onProblem = ({ code }: { readonly code: string }) => problems.push(code)
  const writes = new WriteSchedule(file, { durability, clock, onProblem })
  const add = (text = 'x') => {
    file.append(text)
    writes.request()
  }
  return { add, file, writes, disk, timers, problems, content: () => readFileSync(path, 'utf8') }
}

describe('waiting lines', () => {
  it('are written before the next turn, turn by turn', async () => {
    const { add, content, disk } = schedule()
    for (const expected of ['xx', 'xxxx']) {
      add()
      add()
      await nextTurn()
      expect(content()).toBe(expected)
    }
    expect(disk.writes).toBe(2)
  })

  it('are written for up to four calls that wait, and with the turn for more', async () => {
    const { add, content, writes, disk } = schedule()
    expect(writes.written(9)).toBeUndefined()
    add()
    expect(writes.written(4)).toBeUndefined()
    expect(content()).toBe('x')
    for (let round = 0; round < 2; round++) {
      add()
      const all = [writes.written(5), writes.written(5)]
      expect(all[0]).toBe(all[1])
      expect(content()).toHaveLength(1 + round)
      await all[0]
      expect(content()).toHaveLength(2 + round)
      expect(disk.writes).toBe(2 + round)
    }
  })

  it('are written 100 ms behind when nobody is to wait, or when 64 KB wait', async () => {
    const { add, content, writes, timers } = schedule({ durability: 'behind' })
    add()
    add()
    expect(writes.written(1)).toBeUndefined()
    await nextTurn()
    expect(content()).toBe('')
    expect(timers).toMatchObject([{ ms: 100, options: { background: true }, isCancelled: false }])
    timers[0]!.run()
    expect(content()).toBe('xx')
    add()
    expect(timers).toHaveLength(2)
    add('y'.repeat(65_535))
    expect(content()).toHaveLength(65_538)
    writes.stop()
    expect(timers[1]!.isCancelled).toBe(true)
    add()
    expect(timers).toHaveLength(3)
  })
})

describe('a disk that refuses', () => {
  it('is reported once and tried again after a second, and reported again when it refuses again', async () => {
    const { add, content, writes, disk, timers, problems } = schedule({ left: 1 })
    add('ab')
    await expect(writes.written(1)).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect(timers).toMatchObject([{ ms: 1_000, options: { background: true } }])
    add('c')
    const waiting = writes.written(5)
    await expect(waiting).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect(problems).toEqual(['RECORDS_UNAVAILABLE'])
    timers[0]!.run()
    expect([timers.length, problems.length]).toEqual([2, 1])
    disk.fixed = true
    timers[1]!.run()
    expect(content()).toBe('abc')
    expect(timers).toHaveLength(2)
    disk.fixed = false
    add('d')
    await expect(writes.written(1)).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect([timers.length, problems.length]).toEqual([3, 2])
    writes.stop()
    expect(timers[2]!.isCancelled).toBe(true)
  })
})
