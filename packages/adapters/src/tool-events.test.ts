import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { jsonLines } from '../../../test/support/cli.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { defineTool } from '../../core/src/tool.ts'
import type { RecordEvent } from '../../runtime/src/records/log/events.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import { type ToolEvent, toToolEvents } from './tool-events.ts'

const half = defineTool({
  name: 'half',
  description: 'Fails if its input says so.',
  input: z.strictObject({ fails: z.boolean().default(false) }),
  execute({ fails }) {
    if (fails) throw new ToolError('NOT_FOUND', 'Nothing is left.')
    return { done: true }
  },
})
const save = defineTool({
  name: 'save',
  description: 'Changes something.',
  input: z.strictObject({}),
  capabilities: ['write:fs'],
  execute: () => 'saved',
})

function open() {
  const runs = join(temporaryFolder('tool-events'), 'runs')
  const policy = [{ deny: 'save', when: { caller: 'script' } as const }]
  const hub = testHub({ tools: [half, save], runs, run: 'r-1', policy, durability: 'full' })
  onTestFinished(() => hub.close())
  const live: ToolEvent[] = []
  hub.onEvent((event) => live.push(...toToolEvents(event)))
  const recorded: ToolEvent[] = []
  hub.onRecord((line) => recorded.push(...toToolEvents(line)))
  const stored = () => jsonLines(readFileSync(join(runs, 'r-1', 'events.jsonl'), 'utf8')) as RecordEvent[]
  return { hub, live, recorded, stored }
}

/** `tool.started half`, one for each event. */
const names = (events: readonly ToolEvent[]) => events.map(({ type, tool }) => `${type} ${tool}`)

it('tells a start and one of two ends, of live events, of records and of files alike', async () => {
  const { hub, live, recorded, stored } = open()
  const done = await hub.callDynamic('half', {})
  await hub.callDynamic('half', { fails: true })
  await hub.callDynamic('save', {})
  const told = ['tool.started half', 'tool.completed half', 'tool.started half', 'tool.failed half']
  expect(names(live)).toEqual([...told, 'tool.started save', 'tool.completed save'])
  expect(names(recorded)).toEqual(names(live))
  expect(live[1]).toEqual({
    type: 'tool.completed',
    callId: done.callId,
    tool: 'half',
    status: 'ok',
    durationMs: expect.any(Number),
    attempts: 1,
    summary: done.summary,
    artifacts: [],
  })
  expect(live[3]).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND', message: 'Nothing is left.' } })
  expect(recorded[1]).toEqual({ ...live[1], run: 'r-1', time: expect.any(String) })
  expect(Date.parse(recorded[0]!.time!)).toBeLessThanOrEqual(Date.parse(recorded[1]!.time!))
  await hub.endRun('r-1')
  const fromFile = stored().flatMap((line) => toToolEvents(line))
  expect(fromFile).toEqual(recorded.map(({ run: _run, ...event }) => event))
})

it('tells a refused call as failed, without a start, and a dry run not at all', async () => {
  const { hub, live, recorded } = open()
  await hub.callDynamic('save', {}, { callerKind: 'script' })
  await hub.callDynamic('half', { fails: 'maybe' })
  await hub.callDynamic('half', {}, { dryRun: true })
  expect(names(live)).toEqual(['tool.failed save', 'tool.failed half'])
  expect(live[0]).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } })
  expect(names(recorded)).toEqual(names(live))
})

it('tells a call as failed whose process died', () => {
  const line = { type: 'call-interrupted', callId: 'c-1', tool: 'save', status: 'interrupted' } as const
  expect(toToolEvents({ run: 'r-1', time: '2026-11-16T12:00:00.000Z', event: line })).toEqual([
    {
      type: 'tool.failed',
      callId: 'c-1',
      tool: 'save',
      run: 'r-1',
      time: '2026-11-16T12:00:00.000Z',
      status: 'interrupted',
      summary: expect.stringContaining('process died'),
      artifacts: [],
      error: { code: 'ABORTED', message: expect.stringContaining('process died') },
    },
  ])
})
