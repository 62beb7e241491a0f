import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { decidedCall, validCall } from '../../../../../test/support/call-stages.ts'
import type { ToolResult } from '../../../../core/src/call.ts'
import type { CallEvent } from '../../../../core/src/events.ts'
import { hashJson, sha256 } from '../../../../core/src/lib/hash.ts'
import type { Hooks } from '../../../../core/src/plugin.ts'
import { type AnyTool, defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { Breakers, LoopDetector } from '../../limits/failures.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call, type ValidCall } from './call.ts'
import type { CallExecution } from './call-parts.ts'
import { HookChain } from './hooks.ts'
import {
  beginChange,
  endAnyway,
  recentCalls,
  recordEnd,
  recordIntent,
  recordLate,
  recordPending,
  refuseEffects,
  StartQueue,
} from './record.ts'
import { registerable } from './registered-tool.ts'

const SECRET = 'the-owners-own-secret'

interface Options {
  readonly durability?: 'behind' | 'safe'
  readonly hooks?: Hooks
  readonly principal?: string
  readonly problem?: ToolError
  readonly synced?: () => Promise<void>
  readonly written?: () => Promise<void> | undefined
  readonly keepsRecords?: boolean
}

/** All that the record of a call needs; `lines` is what is on record, `steps` in which order it was made safe. */
function world({ durability = 'safe', hooks, principal, problem, synced, written, keepsRecords = true }: Options = {}) {
  const clock = fakeClock()
  const chain = new HookChain(clock)
  if (hooks) chain.add(hooks)
  const [lines, steps, told, measured]: [Record<string, unknown>[], string[], CallEvent[], unknown[]] = [[], [], [], []]
  const runtime = {
    identity: { principal },
    clock,
    hooks: chain,
    redactor: createRedactor({ values: [SECRET] }),
    limits: { breakers: new Breakers({}, clock), loops: new LoopDetector() },
    metrics: { record: (call: unknown) => measured.push(call) },
    calls: { listeners: new Set([(event: CallEvent) => told.push(event)]), lastEnded: {} },
    settings: { durability },
  } as unknown as Runtime
  const records = {
    problem,
    append: (line: Record<string, unknown>) => {
      lines.push(JSON.parse(JSON.stringify(line)))
      steps.push(String(line.type))
    },
    synced: () => {
      steps.push('synced')
      return synced?.() ?? Promise.resolve()
    },
    ended: () => {
      steps.push('ended')
      return synced?.() ?? Promise.resolve()
    },
    written: (inFlight: number) => {
      steps.push(`written ${inFlight}`)
      return written?.()
    },
  }
  const starts = new StartQueue(clock)
  const run = {
    hold: {},
    records: keepsRecords ? records : undefined,
    starts,
    recent: [],
    inFlight: 3,
  } as unknown as RunState
  return { runtime, run, clock, lines, steps, told, measured }
}

function callOf(
  options: Record<string, unknown> = {},
  { wire = 'x.y', parent }: { wire?: string; parent?: Call } = {},
) {
  const call = new Call({ id: 'c1', run: 'r', wire, caller: 'c', options, input: { a: SECRET }, parent })
  const tool = defineTool({ name: 'x.y', description: 'x', input: {}, capabilities: ['memory'], execute: () => 1 })
  validCall(call, registerable(tool as AnyTool, 'caller'))
  return call
}

/** An execution that has entered its tool. */
const execution = () => ({ enteredMark: performance.now(), waitedMs: 0, attempts: 1 }) as CallExecution

function resultOf(more: Record<string, unknown> = {}): ToolResult {
  return {
    ok: true,
    status: 'ok',
    callId: 'c1',
    tool: 'x.y',
    summary: 'Did it.',
    data: 1,
    content: [],
    artifacts: [],
    evidence: [{ type: 'tool', ref: 'c1', summary: 'Did it.' }],
    meta: { durationMs: 12, attempts: 1 },
    ...more,
  } as never
}

describe('the end of a call on record', () => {
  it('says who asked for what, and what became of it', async () => {
    const { runtime, run, lines, told, measured } = world({ principal: 'token:ci' })
    const given = { session: `s ${SECRET}`, purpose: `p ${SECRET}`, requestId: 'q', taskId: 't', goalId: 'g' }
    const call = callOf({ ...given, callerKind: 'script', idempotencyKey: 'k' }, { wire: 'jot', parent: callOf() })
    const uses: Partial<ValidCall> = { targets: [{ capability: 'memory', value: 'note' }], sandbox: 'full' }
    decidedCall(call, call.found?.tool, { uses, decision: { rule: 'allow x' } as never })
    Object.assign(call, { approvedBy: 'ada', waitedMs: 2.4 })
    const meta = {
      durationMs: 12,
      attempts: 2,
      cached: true,
      labels: ['untrusted'],
      abandoned: true,
      notices: ['Look.'],
    }
    const result = resultOf({ meta, artifacts: [{ ref: 'artifact:1' }] })
    const end = await recordEnd(runtime, run, call, { result, bytes: 7, text: 'abc' })
    const hidden = expect.stringMatching(/^[sp] \[redacted:[a-z-]+\]$/)
    expect(lines).toEqual([
      {
        type: 'call-ended',
        callId: 'c1',
        tool: 'x.y',
        caller: 'c',
        principal: 'token:ci',
        wire: 'jot',
        via: 'script',
        session: hidden,
        parent: 'c1',
        purpose: hidden,
        requestId: 'q',
        taskId: 't',
        goalId: 'g',
        argsHash: hashJson({ a: SECRET }),
        args: { a: expect.stringMatching(/^\[redacted/) },
        targets: ['memory note'],
        keyHash: sha256('k'),
        effect: 'allow',
        rule: 'allow x',
        sandbox: 'full',
        status: 'ok',
        durationMs: 12,
        waitedMs: 2,
        bytes: 7,
        attempts: 2,
        resultHash: sha256('abc'),
        summary: 'Did it.',
        approvedBy: 'ada',
        evidence: ['tool:c1'],
        artifacts: ['artifact:1'],
        cached: true,
        labels: ['untrusted'],
        abandoned: true,
        notices: ['Look.'],
      },
    ])
    expect(call.recorded).toBe('end')
    expect(measured).toEqual([{ tool: 'x.y', status: 'ok', durationMs: 12 - 2.4, bytes: 7 }])
    expect(told).toEqual([{ type: 'call-ended', callId: 'c1', result: end }])
    expect(recentCalls(run)).toEqual([{ callId: 'c1', tool: 'x.y', status: 'ok', summary: 'Did it.' }])
  })

  it('says nothing of what there was not', async () => {
    const { runtime, run, lines } = world()
    await recordEnd(runtime, run, callOf(), { result: resultOf(), bytes: 0 })
    expect(Object.keys(lines[0]!).join(' ')).toBe(
      'type callId tool caller argsHash args status durationMs bytes summary evidence',
    )
  })

  it('does not repeat what its start has said', async () => {
    const { runtime, run, lines } = world()
    const call = callOf()
    beginChange(runtime, run, call)
    await recordEnd(runtime, run, call, { result: resultOf(), bytes: 0 })
    expect(lines[0]).toMatchObject({ type: 'call-started', callId: 'c1', tool: 'x.y', caller: 'c' })
    expect(lines[1]).not.toHaveProperty('caller')
  })

  it('has the size of arguments that are too large to be kept, and none that are not valid', async () => {
    const { runtime, run, lines } = world()
    for (const [inputBytes, isValid] of [
      [2_048, true],
      [2_049, true],
      [2_049, false],
      [5, false],
    ] as const) {
      const call = callOf()
      call.inputBytes = inputBytes
      if (!isValid) call.valid = undefined
      await recordEnd(runtime, run, call, { result: resultOf(), bytes: 0 })
    }
    const kept = lines.map(({ args, argsBytes, argsHash }) => [args !== undefined, argsBytes, argsHash !== undefined])
    expect(kept.map(String)).toEqual(['true,,true', 'false,2049,true', 'false,,false', 'false,,false'])
  })

  it('has the key that the caller gave, also of a call that is not valid, or the one that is made', async () => {
    const { runtime, run, lines } = world()
    const invalid = callOf({ idempotencyKey: 'k', requestId: 'q', taskId: 't' })
    invalid.valid = undefined
    const unkeyed = callOf({ requestId: 'q', taskId: 't' })
    unkeyed.valid = undefined
    for (const call of [invalid, callOf({ requestId: 'q', taskId: 't' }), unkeyed])
      await recordEnd(runtime, run, call, { result: resultOf(), bytes: 0 })
    expect(lines.map(({ keyHash }) => keyHash)).toEqual([sha256('k'), expect.any(String), undefined])
    expect(lines[1]!.keyHash).not.toBe(sha256('k'))
  })

  it('has the stack and the details of a failure without secrets', async () => {
    const { runtime, run, lines } = world()
    const failed = async (failure: ToolError | undefined) => {
      const call = callOf()
      call.report.failure = failure
      const error = { code: 'INTERNAL', message: 'No.', retryable: false, fix: { hint: 'x' } }
      await recordEnd(runtime, run, call, { result: resultOf({ ok: false, status: 'error', error }), bytes: 0 })
      return lines.at(-1)!.error
    }
    const cause = new Error(`oops ${SECRET}`)
    expect(await failed(new ToolError('INTERNAL', 'No.', { cause, details: { key: SECRET } }))).toEqual({
      code: 'INTERNAL',
      message: 'No.',
      stack: expect.stringMatching(/^Error: oops \[redacted:[a-z-]+\]\n +at /),
      details: { key: expect.stringMatching(/^\[redacted/) },
    })
    expect(await failed(new ToolError('INTERNAL', 'No.'))).toEqual({ code: 'INTERNAL', message: 'No.' })
    expect(await failed(undefined)).toEqual({ code: 'INTERNAL', message: 'No.' })
    expect(await failed(new ToolError('INTERNAL', 'No.', { cause: 'a text' }))).toMatchObject({ stack: 'a text' })
    const shy = Object.defineProperty(new Error('shy'), 'stack', {
      get: () => {
        throw new Error('not to be looked at')
      },
    })
    expect(await failed(new ToolError('INTERNAL', 'No.', { cause: shy }))).toMatchObject({ stack: 'shy' })
    const odd = Object.assign(new Error('odd'), { stack: 7 })
    expect(await failed(new ToolError('INTERNAL', 'No.', { cause: odd }))).toMatchObject({ stack: 'odd' })
  })

  it('is made safe against the loss of power where something was changed, else against the end of the process', async () => {
    const stepsOf = async (change: Partial<Call>, options: Options = {}) => {
      const { runtime, run, steps } = world(options)
      const call = Object.assign(callOf(), change)
      if (call.wasExecuted)
        call.limits.reservation = { settle: () => [], notices: [], wallMs: 0, release: () => {} } as never
      await recordEnd(runtime, run, call, { result: resultOf(), bytes: 0 })
      return steps
    }
    const changed = { execution: execution(), hasChanged: true }
    expect(await stepsOf(changed)).toEqual(['call-ended', 'ended'])
    expect(await stepsOf({ ...changed, execution: undefined })).toEqual(['call-ended', 'written 3'])
    expect(await stepsOf({ ...changed, hasChanged: false })).toEqual(['call-ended', 'written 3'])
    expect(await stepsOf(changed, { durability: 'behind' })).toEqual(['call-ended', 'written 3'])
  })

  it('that is not on disk is reported in the result, after earlier notices', async () => {
    const full = () => Promise.reject(new Error('the disk is full'))
    for (const hasChanged of [true, false]) {
      const { runtime, run } = world({ synced: full, written: full })
      const call = Object.assign(callOf(), { hasChanged, execution: execution() })
      call.limits.reservation = {
        settle: () => ['Three quarters.'],
        notices: [],
        wallMs: 0,
        release: () => {},
      } as never
      const { meta } = await recordEnd(runtime, run, call, { result: resultOf(), bytes: 0 })
      expect(meta.notices).toEqual(['Three quarters.', 'The record of this call is not on disk yet: the disk is full'])
    }
    const { runtime, run } = world()
    expect((await recordEnd(runtime, run, callOf(), { result: resultOf(), bytes: 0 })).meta.notices).toBeUndefined()
  })

  it('is shown to hooks, whose failure is on record', async () => {
    const broken = () => {
      throw new Error('no')
    }
    const { runtime, run, lines } = world({ hooks: { settled: broken } })
    expect((await recordEnd(runtime, run, callOf(), { result: resultOf(), bytes: 0 })).ok).toBe(true)
    const message = 'The settled hook failed, so x.y is blocked.'
    expect(lines[1]).toEqual({ type: 'hook-failed', callId: 'c1', tool: 'x.y', message })
    const unknown = callOf()
    unknown.found = undefined
    await recordEnd(runtime, run, unknown, { result: resultOf(), bytes: 0 })
    expect(lines).toHaveLength(3)
  })

  it('is counted and told also without a run, without records and for a tool that is not there', async () => {
    const { runtime, run, told, measured } = world({ keepsRecords: false })
    const unknown = callOf()
    unknown.found = undefined
    for (const place of [undefined, run]) await recordEnd(runtime, place, unknown, { result: resultOf(), bytes: 0 })
    expect(told).toHaveLength(2)
    expect(measured).toMatchObject([{ tool: 'unknown' }, { tool: 'unknown' }])
    expect(unknown.recorded).toBe('nothing')
  })

  it('is closed in its trace, and never has less than no time', async () => {
    const { runtime, run, measured } = world()
    const ends: unknown[] = []
    const call = Object.assign(callOf(), {
      execution: { span: { end: (how: unknown) => ends.push(how) } } as never,
      waitedMs: 99,
    })
    await recordEnd(runtime, run, call, { result: resultOf(), bytes: 0 })
    const error = { code: 'CONFLICT', message: 'No.' }
    await recordEnd(runtime, run, call, { result: resultOf({ ok: false, error }), bytes: 0 })
    expect(ends).toEqual([{ ok: true }, { ok: false, code: 'CONFLICT' }])
    expect(measured[0]).toMatchObject({ durationMs: 0 })
  })
})

describe('the start of a call', () => {
  it('is on record and on disk before it changes something, once', async () => {
    const { runtime, run, steps } = world()
    const call = callOf()
    await recordIntent(runtime, run, call)
    await recordIntent(runtime, run, call)
    expect(steps).toEqual(['call-started', 'synced', 'synced'])
    expect([call.hasChanged, call.recorded]).toEqual([true, 'start'])
  })

  it('need not be on disk where the owner says so, nor be recorded where nothing is', async () => {
    const behind = world({ durability: 'behind' })
    await recordIntent(behind.runtime, behind.run, callOf())
    expect(behind.steps).toEqual(['call-started'])
    const unrecorded = world({ keepsRecords: false })
    const call = callOf()
    await recordIntent(unrecorded.runtime, unrecorded.run, call)
    expect([call.hasChanged, call.recorded]).toEqual([true, 'nothing'])
  })

  it('is refused where it cannot be recorded', async () => {
    const problem = new ToolError('OUT_OF_RESOURCES', 'The disk is full.')
    const refused = {
      code: 'RECORDS_UNAVAILABLE',
      message: 'The disk is full. Calls with side effects are refused until the record can be written.',
      cause: problem,
    }
    for (const options of [{ problem }, { synced: () => Promise.reject(problem) }]) {
      const { runtime, run } = world(options)
      await expect(recordIntent(runtime, run, callOf())).rejects.toMatchObject(refused)
    }
    expect(() => refuseEffects(problem)).toThrow(expect.objectContaining(refused))
    const { runtime, run, lines } = world({ problem })
    expect(() => beginChange(runtime, run, callOf())).toThrow(/The disk is full/)
    expect(lines).toEqual([])
  })

  it('of one without effects waits a moment, unless it is recorded already or nothing is', async () => {
    const { runtime, run, clock, lines } = world()
    const known = callOf()
    known.recorded = 'start'
    recordPending(runtime, run, known)
    expect(clock.waiting).toBe(0)
    recordPending(runtime, run, callOf())
    await clock.advance(50)
    expect(lines).toMatchObject([{ type: 'call-started' }])
    const unrecorded = world({ keepsRecords: false })
    recordPending(unrecorded.runtime, unrecorded.run, callOf())
    expect(unrecorded.clock.waiting).toBe(0)
  })
})

it('a tool that was left behind has its end on record, too', () => {
  const { runtime, run, lines } = world()
  recordLate(runtime, run, callOf(), { ok: true })
  recordLate(runtime, run, callOf(), { ok: false, error: new Error(`no ${SECRET}`) })
  const late = { type: 'call-late', callId: 'c1', tool: 'x.y', durationMs: expect.any(Number) }
  expect(lines).toEqual([
    { ...late, ok: true },
    { ...late, ok: false, error: { code: 'INTERNAL', message: expect.stringMatching(/^no \[redacted:[a-z-]+\]$/) } },
  ])
  const { durationMs } = lines[0] as { durationMs: number }
  expect(Number.isInteger(durationMs)).toBe(true)
  expect(durationMs).toBeLessThan(60_000)
})

it('a call whose end could not be reported ends all the same, and is on record once', () => {
  const { run, lines } = world()
  const call = Object.assign(callOf(), { execution: { attempts: 2 } as never })
  const message = 'The end of call c1 could not be reported.'
  expect(endAnyway(run, call, new Error('defect'))).toEqual({
    ok: false,
    status: 'error',
    callId: 'c1',
    tool: 'x.y',
    summary: message,
    content: [{ type: 'text', text: message }],
    artifacts: [],
    evidence: [{ type: 'tool', ref: 'c1', summary: message }],
    error: { code: 'INTERNAL', message, retryable: false, fix: { hint: expect.any(String) } },
    meta: { durationMs: 0, attempts: 2 },
  })
  const end = { type: 'call-ended', callId: 'c1', tool: 'x.y', status: 'error', durationMs: 0, bytes: 0 }
  expect(lines).toEqual([
    { ...end, error: { code: 'INTERNAL', message, stack: expect.stringMatching(/^Error: defect\n/) } },
  ])
  call.recorded = 'end'
  endAnyway(run, call, 'defect')
  expect(endAnyway(undefined, call, 'defect').ok).toBe(false)
  expect(lines).toHaveLength(1)
})
