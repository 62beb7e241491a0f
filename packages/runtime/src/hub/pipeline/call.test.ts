import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { foundCall, validCall } from '../../../../../test/support/call-stages.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { Call } from './call.ts'
import { registerable } from './registered-tool.ts'

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

it('a call that is stopped or over tells so to everybody who asks, now or later, and once', () => {
  for (const [end, reasonOf] of [
    [(call: Call) => call.abort(reason('stopped')), 'stopped'],
    [(call: Call) => call.end(), 'The call is over.'],
  ] as const) {
    const call = newCall()
    const told: string[] = []
    const listen = (name: string) => call.onStop(({ message }) => told.push(`${name} ${message}`))
    listen('first')
    listen('gone')()
    expect([call.isStopped, call.signal.aborted]).toEqual([false, false])
    end(call)
    expect(told).toEqual([`first ${reasonOf}`])
    listen('late')
    expect(told).toEqual([`first ${reasonOf}`, `late ${reasonOf}`])
    expect([call.isStopped, call.signal.aborted, (call.signal.reason as Error).message]).toEqual([true, true, reasonOf])
    call.end()
    expect(call.ended).toBe(true)
  }
})

it('a signal that nobody had looked at before has fired, too, when the call is stopped', () => {
  const call = newCall()
  call.abort(reason('stopped'))
  expect(call.signal).toMatchObject({ aborted: true, reason: { code: 'ABORTED', message: 'stopped' } })
  expect(call.signal).toBe(call.signal)
})

it('a call that is over says by whom, and what to do', () => {
  const call = newCall()
  call.end()
  const hint = 'Finish everything before execute returns; nothing may happen after the record of the call.'
  expect(call.over()).toMatchObject({ code: 'ABORTED', message: 'The call 1 of w is over.', fix: { hint } })
  expect(call.signal.reason).toMatchObject({ code: 'ABORTED', fix: { hint } })
})

it('a call knows how deep it is among the calls that made it', () => {
  const call = newCall()
  const nested = new Call({ id: '2', run: 'r', wire: 'w', caller: 'c', options: {}, input: {}, parent: call })
  const deeper = new Call({ id: '3', run: 'r', wire: 'w', caller: 'c', options: {}, input: {}, parent: nested })
  expect([call.depth, nested.depth, deeper.depth]).toEqual([0, 1, 2])
})

it('the end of a call is waited for by as many as like', async () => {
  const call = newCall()
  const waiting = [call.whenEnded(), call.whenEnded()]
  call.onEnded!()
  expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  expect([call.wasExecuted, newCall().wasExecuted]).toEqual([false, false])
})

it('another input forgets all that was learnt of the one before', () => {
  const call = newCall()
  expect(call.argsHash).toBe('')
  const valid = validCall(call)
  const before = call.argsHash
  expect(before).toMatch(/^[0-9a-f]{64}$/)
  valid.targets = [{ capability: 'exec', value: 'ls' }]
  call.runLater.set('/a', 'git')
  call.replaceInput({ other: true })
  expect(call).toMatchObject({ input: { other: true }, valid: undefined, argsHash: '' })
  expect(call.view()).toMatchObject({ input: { other: true }, targets: [] })
  expect(call.runLater.size).toBe(0)
  const next = validCall(call)
  expect(next).toMatchObject({ input: { other: true }, targets: [], commands: [], sandbox: undefined })
  expect([next.readings.size, next.scripts.size, next.unread]).toEqual([0, 0, undefined])
  expect(call.argsHash).not.toBe(before)
})

it('a hook sees of a call what identifies it, with the ids that its caller gave', () => {
  const options = { requestId: 'q', taskId: 't', goalId: 'g', purpose: 'why' }
  const call = new Call({ id: '1', run: 'r', wire: 'w', caller: 'c', options, input: { a: 1 } })
  const targets = [{ capability: 'memory', value: 'x' }] as const
  validCall(call, undefined, { targets })
  const seen = { callId: '1', run: 'r', tool: 'x', wire: 'w', input: { a: 1 }, targets, caller: 'c' }
  expect(call.view()).toEqual({ ...seen, requestId: 'q', taskId: 't', goalId: 'g' })
  expect(Object.keys(newCall().view())).toEqual(Object.keys(seen))
})

it('what is paused is the tool, or what it says that this input is about', () => {
  const call = new Call({ id: '1', run: 'r', wire: 'w', caller: 'c', options: {}, input: { host: 'a' } })
  const tool = defineTool({ name: 'web.get', description: 'Gets.', input: {}, execute: () => 'got' })
  const circuit = ({ host }: { host: string }, run: string) => (host === 'a' ? `${host} in ${run}` : undefined)
  const registered = registerable({ ...tool, circuit } as never, 'caller')
  foundCall(call, registered)
  expect([call.name, call.circuit]).toEqual(['web.get', 'web.get'])
  validCall(call, registered)
  expect(call.circuit).toBe('web.get (a in r)')
  call.replaceInput({ host: 'b' })
  validCall(call, registered)
  expect(call.circuit).toBe('web.get')
})
