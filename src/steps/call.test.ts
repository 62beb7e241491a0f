import { expect, it } from 'vitest'
import { ToolError } from '../errors.ts'
import { Call } from './call.ts'

const newCall = () => new Call({ id: '1', run: 'r', wire: 'w', caller: 'c', options: {}, input: {} })
const reason = (text: string) => new ToolError('ABORTED', text)

it('a call that is stopped twice keeps its first reason, and tells it once', () => {
  const call = newCall()
  const told: string[] = []
  call.onAbort = ({ message }) => told.push(message)
  call.onStop(({ message }) => told.push(`stop ${message}`))
  call.abort(reason('first'))
  call.abort(reason('second'))
  expect(call.abortReason?.message).toBe('first')
  expect((call.signal.reason as Error).message).toBe('first')
  expect(told).toEqual(['stop first', 'first'])
})

it('a call that is over cannot be stopped', () => {
  const call = newCall()
  let isTold = false
  call.onAbort = () => {
    isTold = true
  }
  call.end()
  call.abort(reason('late'))
  expect([call.abortReason, isTold]).toEqual([undefined, false])
  expect((call.signal.reason as Error).message).toBe('The call is over.')
})
