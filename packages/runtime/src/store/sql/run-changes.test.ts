import { isDenial, isFailure } from '@tool-hub/core'
import { describe, expect, it } from 'vitest'
import type { IndexedCall } from '../../../../core/src/store.ts'
import { changeOf, changeRun, mergeCall, progressChange } from './run-changes.ts'

const call = (more: Partial<IndexedCall> = {}): IndexedCall => ({
  ...{ callId: 'c', run: 'r', seq: 5, tool: 't', caller: 'a', status: 'running', startedAt: 100 },
  ...more,
})

describe('the state of a call', () => {
  it.each([
    ['ok', false, false],
    ['pending', false, false],
    ['running', false, false],
    ['error', true, false],
    ['interrupted', true, false],
    ['denied', true, true],
    ['approval_required', true, true],
  ])('%s: failed %s, denied %s', (status, failed, denied) => {
    expect([isFailure(status), isDenial(status)]).toEqual([failed, denied])
  })
})

describe('a later entry of a call', () => {
  it('completes it, and what it leaves open stays', () => {
    const end = { ...call({ seq: 9, status: 'ok', startedAt: 130, durationMs: 30 }), principal: undefined }
    expect(mergeCall(call({ principal: 'token:ci' }), end)).toEqual(
      call({ principal: 'token:ci', status: 'ok', durationMs: 30 }),
    )
    expect(mergeCall(call({ seq: 9, startedAt: 130 }), call())).toEqual(call())
  })

  it.each([
    ['of another run', call(), call({ run: 'other', status: 'ok' })],
    ['that is a late start', call({ status: 'ok' }), call({ seq: 1 })],
  ])('changes nothing %s', (_, before, entry) => {
    expect(mergeCall(before, entry)).toBe(before)
  })
})

describe('what a call changes in its run', () => {
  const none = { run: 'r', caller: 'a', startedAt: 100, endedAt: 100, calls: 0, failures: 0, denials: 0, bytes: 0 }
  it.each([
    ['a start', call(), undefined, { calls: 1 }],
    ['a whole call', call({ status: 'ok', durationMs: 30 }), undefined, { calls: 1, endedAt: 130 }],
    ['a failure', call({ status: 'error' }), undefined, { calls: 1, failures: 1 }],
    ['an end that failed', call({ status: 'error' }), call(), { failures: 1 }],
    ['a denial, which is not a failure', call({ status: 'denied' }), call(), { denials: 1 }],
    ['a call that needs an approval', call({ status: 'approval_required' }), call(), {}],
    ['a failure told again', call({ status: 'error' }), call({ status: 'error' }), {}],
    ['a failure that was none', call({ status: 'ok' }), call({ status: 'error' }), { failures: -1 }],
  ])('%s', (_, now, before, change) => {
    expect(changeOf(now, before)).toEqual({ ...none, ...change })
  })

  it('how far its record was read', () => {
    expect(progressChange({ run: 'r', bytes: 70, at: 9 })).toEqual({
      ...none,
      caller: '',
      startedAt: 9,
      endedAt: 9,
      bytes: 70,
    })
  })
})

describe('a run', () => {
  const before = { run: 'r', caller: 'a', startedAt: 50, endedAt: 90, calls: 2, failures: 1, denials: 1, bytes: 70 }

  it('begins as the first change says', () => {
    expect(changeRun(undefined, before)).toEqual(before)
  })

  it('adds up what is counted, and widens its span', () => {
    const change = { run: 'r', caller: 'b', startedAt: 40, endedAt: 95, calls: 3, failures: 2, denials: 2, bytes: 80 }
    expect(changeRun(before, change)).toEqual({ ...change, caller: 'a', calls: 5, failures: 3, denials: 3 })
  })

  it('never goes back, and takes the first caller that is known', () => {
    const change = { run: 'r', caller: 'b', startedAt: 60, endedAt: 80, calls: 0, failures: 0, denials: 0, bytes: 60 }
    expect(changeRun({ ...before, caller: '' }, change)).toEqual({ ...before, caller: 'b' })
  })
})
