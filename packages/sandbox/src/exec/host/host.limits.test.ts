import { expect, it } from 'vitest'
import { DEFAULT_COMMAND_LIMITS } from '../../../../core/src/limits.ts'
import { programLimits } from '../program/sandboxed-program.ts'
import { limitOptions, parseLimits } from './host.ts'

const limits = { cpuSeconds: 10.5, memoryBytes: 2 ** 31, processes: 256, fileBytes: 2 ** 30, openFiles: 4096 }

it('bounds what each process may use', () => {
  expect(limitOptions(limits, { hard: new Map() })).toEqual([
    ...['--cpu=10', `--as=${2 ** 36 + 2 ** 31}`, `--data=${2 ** 31}`, '--nproc=256', `--fsize=${2 ** 30}`],
    ...['--nofile=4096', '--core=0', '--msgqueue=0'],
  ])
})

it('counts the processes of the whole user without a sandbox', () => {
  expect(limitOptions(limits, { hard: new Map(), isSandboxed: false })).toContain('--nproc=4352')
})

it('never asks for more than the system lets it set', () => {
  const text = `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max processes             100                  200                  processes 
Max open files            1024                 1024                 files     
Max core file size        0                    unlimited            bytes     
`
  const options = limitOptions(limits, { hard: parseLimits(text) })
  expect(options).toEqual(expect.arrayContaining(['--nproc=200', '--nofile=1024', '--cpu=10', '--core=0']))
})

it('reports no bound if neither the sandbox nor the system has one', () => {
  const options = (hard: ReadonlyMap<string, number>) => limitOptions({ ...limits, cpuSeconds: Infinity }, { hard })
  expect(options(new Map())).toContain('--cpu=unlimited')
  expect(options(new Map([['cpu', 99]]))).toContain('--cpu=99')
})

it('reads every hard limit that it sets, and no other line', () => {
  const line = (label: string, soft: string, hard: string) =>
    `${label.padEnd(26)}${soft.padEnd(21)}${hard.padEnd(21)}bytes`
  const labels = [
    'Max cpu time',
    'Max address space',
    'Max data size',
    'Max processes',
    'Max file size',
    'Max open files',
  ]
  const text = [...labels, 'Max core file size', 'Max stack size'].map((label, at) => line(label, '1', `${at + 10}`))
  expect([...parseLimits([...text, line('The Max cpu time', '1', '99')].join('\n'))]).toEqual([
    ...[
      ['cpu', 10],
      ['as', 11],
      ['data', 12],
      ['nproc', 13],
      ['fsize', 14],
      ['nofile', 15],
      ['core', 16],
    ],
  ])
  expect(parseLimits(line('Max cpu time', 'unlimited', 'unlimited')).size).toBe(0)
  expect(parseLimits('').size).toBe(0)
})

it('never asks for less than nothing', () => {
  expect(limitOptions({ ...limits, openFiles: -1 }, { hard: new Map() })).toContain('--nofile=0')
})

it('bounds a command for which the owner says nothing as the documentation says', () => {
  expect(DEFAULT_COMMAND_LIMITS).toEqual({
    cpuMs: 600_000,
    memoryBytes: 2_000_000_000,
    processes: 256,
    fileBytes: 1_000_000_000,
    openFiles: 1_024,
    diskBytes: 10_000_000_000,
    newFiles: 500_000,
    outputBytes: 1_000_000_000,
  })
})

it('bounds a program in the same way, but for its processor time', () => {
  const defaults = { memoryBytes: 2_000_000_000, processes: 256, fileBytes: 1_000_000_000, openFiles: 1_024 }
  expect(programLimits({})).toEqual({ cpuSeconds: Infinity, ...defaults })
  const own = { memoryBytes: 1, processes: 2, fileBytes: 3, openFiles: 4 }
  expect(programLimits({ ...own, cpuMs: 5 })).toEqual({ cpuSeconds: Infinity, ...own })
})
