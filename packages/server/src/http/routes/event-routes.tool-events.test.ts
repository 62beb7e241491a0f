import { expect, it } from 'vitest'
import type { CallEntry } from '../../../../core/src/protocol/calls.ts'
import { ToolEvents } from './event-routes.ts'

const call = (more: Partial<CallEntry> = {}): CallEntry => ({
  callId: 'c-1',
  run: 'r',
  seq: 1,
  tool: 't',
  caller: 'ada',
  status: 'ok',
  startedAt: 1_000,
  durationMs: 500,
  effect: 'allow',
  ...more,
})
const types = (events: ToolEvents, entry: CallEntry) => events.of(entry).map(({ type }) => type)
const running = { status: 'running', durationMs: undefined }

it('tells the start of a call once, when it starts or together with its end', () => {
  const events = new ToolEvents()
  expect(types(events, call(running))).toEqual(['tool.started'])
  expect(types(events, call())).toEqual(['tool.completed'])
  expect(events.of(call({ callId: 'c-2', summary: 'done' }))).toEqual([
    { type: 'tool.started', callId: 'c-2', tool: 't', run: 'r', time: '1970-01-01T00:00:01.000Z' },
    {
      type: 'tool.completed',
      callId: 'c-2',
      tool: 't',
      run: 'r',
      time: '1970-01-01T00:00:01.500Z',
      status: 'ok',
      durationMs: 500,
      attempts: 1,
      summary: 'done',
    },
  ])
})

it('tells how often a call was tried', () => {
  const [, end] = new ToolEvents().of(call({ attempts: 3 }))
  expect(end).toMatchObject({ type: 'tool.completed', attempts: 3 })
})

it('tells no start of a call that was refused, waits for nobody any more, or was interrupted', () => {
  const events = new ToolEvents()
  expect(types(events, call({ status: 'denied', effect: 'deny' }))).toEqual(['tool.failed'])
  expect(types(events, call({ status: 'timeout', effect: 'ask' }))).toEqual(['tool.failed'])
  expect(types(events, call({ status: 'ok', effect: 'ask', approvedBy: 'ada' }))).toEqual([
    'tool.started',
    'tool.completed',
  ])
  expect(types(events, call({ status: 'error', error: 'RATE_LIMITED' }))).toEqual(['tool.failed'])
  expect(events.of(call({ status: 'interrupted', durationMs: undefined }))).toMatchObject([
    { type: 'tool.failed', status: 'interrupted', attempts: undefined, error: { code: 'ABORTED' } },
  ])
})

it('tells a tool as completed whose work continues', () => {
  expect(types(new ToolEvents(), call({ status: 'running' }))).toEqual(['tool.started', 'tool.completed'])
})
