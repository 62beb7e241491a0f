import { describe, expect, it } from 'vitest'
import { makeCall } from '../../calls/make-call.ts'
import { type CallFilter, fitsFilter, toQuery } from './call-filter.ts'

const NO_FILTER: CallFilter = { tool: '', caller: '', status: '', text: '' }

describe('a filter of calls', () => {
  const call = makeCall('a', { status: 'denied', summary: 'Outside of the sandbox', targets: ['read:fs /etc/passwd'] })

  it('looks at tool, caller and status exactly, and at words anywhere', () => {
    expect(fitsFilter(call, NO_FILTER)).toBe(true)
    expect(fitsFilter(call, { ...NO_FILTER, tool: 'core/fs.read' })).toBe(false)
    expect(fitsFilter(call, { ...NO_FILTER, caller: 'ada', status: 'denied', text: 'SANDBOX' })).toBe(true)
    expect(fitsFilter(call, { ...NO_FILTER, text: '/etc/passwd' })).toBe(true)
    expect(fitsFilter(call, { ...NO_FILTER, text: 'shadow' })).toBe(false)
    expect(fitsFilter(makeCall('a', { request: 'The shadow' }), { ...NO_FILTER, text: 'shadow' })).toBe(true)
  })

  it('counts a call as failed if it has ended without success', () => {
    const statuses = ['ok', 'running', 'pending', 'error', 'denied', 'timeout', 'aborted', 'interrupted']
    const failed = statuses.filter((status) =>
      fitsFilter(makeCall('a', { status }), { ...NO_FILTER, status: 'failed' }),
    )
    expect(failed).toEqual(['error', 'denied', 'timeout', 'aborted', 'interrupted'])
  })

  it('asks the service for nothing that was not chosen', () => {
    expect(toQuery({ ...NO_FILTER, status: 'ok' })).toEqual({ status: 'ok' })
  })
})
