import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../exit.ts'
import { parseScopeFlags, readBudget, readExpiry, readRate, readRoots } from './tokens.ts'

describe('the options of tokens add', () => {
  it('are read with their units', () => {
    expect(parseScopeFlags('call, read')).toEqual(['call', 'read'])
    expect(readBudget('calls=1000,time=10m,bytes=5MB,cost=2.5')).toEqual({
      calls: 1_000,
      wallMs: 600_000,
      bytes: 5_000_000,
      cost: 2.5,
    })
    expect(readRate('100/min')).toEqual({ perSecond: 100 / 60, burst: 100 })
    expect(readRoots(['data:read', 'out:write', '/a:b'])).toEqual([
      { path: resolve('data'), mode: 'read' },
      { path: resolve('out'), mode: 'write' },
      { path: '/a:b', mode: 'write' },
    ])
    expect(readExpiry('1d')! - Date.now()).toBeGreaterThan(86_399_000)
  })

  it.each<[() => unknown, string]>([
    [() => parseScopeFlags('cal'), '"cal" is not a scope'],
    [() => parseScopeFlags(''), '"" is not a scope'],
    [() => readBudget('call=3'), '"call=3" is not known'],
    [() => readBudget('constructor=3'), 'is not known'],
    [() => readBudget('calls=many'), '"many" is not a number'],
    [() => readBudget('calls=-1'), '"-1" is not a number'],
    [() => readBudget('time=soon'), 'is not a time'],
    [() => readBudget('bytes=much'), 'is not a size'],
    [() => readRate('often'), 'is not a rate'],
    [() => readExpiry('tomorrow'), 'is not a time'],
  ])('are refused when they mean nothing: %s', (read, message) => {
    expect(read).toThrow(UsageError)
    expect(read).toThrow(message)
  })
})
