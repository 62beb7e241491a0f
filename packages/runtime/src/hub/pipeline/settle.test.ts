import { DOUBT_DETAILS } from '@tool-hub/core'
import { ERRORS, ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { decidedCall } from '../../../../../test/support/call-stages.ts'
import type { Hooks } from '../../../../core/src/plugin.ts'
import { type AnyTool, defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call } from './call.ts'
import { HookChain } from './hooks.ts'
import { registerable } from './registered-tool.ts'
import { asToolError, fail, failWithData, rehearsed, type Settled, succeed } from './settle.ts'

const SECRET = 'the-owners-own-secret'

interface Options {
  readonly tool?: Record<string, unknown>
  readonly options?: Record<string, unknown>
  readonly hooks?: Hooks
  readonly outputChars?: number
  readonly keepsRecords?: boolean
}

/** A call of a tool that came back, and all that its end looks at; artifacts are kept in a list. */
function world({ tool = {}, options = {}, hooks, outputChars, keepsRecords = true }: Options = {}) {
  const clock = fakeClock()
  const chain = new HookChain(clock)
  if (hooks) chain.add(hooks)
  const settings = { outputChars, timeoutMs: 1_000 }
  const runtime = {
    identity: {},
    redactor: createRedactor({ values: [SECRET] }),
    hooks: chain,
    clock,
    settings,
  } as unknown as Runtime
  const kept: { content: string; options: unknown }[] = []
  const records = {
    putArtifact: async (content: string, options: unknown) => {
      kept.push({ content, options })
      return { ref: `artifact:${kept.length}` }
    },
  }
  const run = { records: keepsRecords ? records : undefined } as unknown as RunState
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.give', caller: 'c', options, input: {} })
  const plain = defineTool({ name: 'x.give', description: 'Gives.', input: {}, execute: () => 1 })
  const decided = decidedCall(call, registerable({ ...plain, ...tool } as AnyTool, 'caller'))
  // The result has no rule yet.
  call.decided = undefined
  return { runtime, run, call: decided, kept, clock }
}

async function give(value: unknown, options?: Options) {
  const { runtime, run, call, kept } = world(options)
  return { ...(await succeed(runtime, run, call.valid.found, value)), call, kept }
}

const failureOf = (value: unknown, options?: Options) => give(value, options).catch((error: ToolError) => error)
const textOf = ({ result }: Settled) => result.content.map((block) => ('text' in block ? block.text : block.type))

describe('what a tool gives', () => {
  it.each<[string, unknown, string]>([
    ['a text', 'hello', 'hello'],
    ['an object', { a: [1, null] }, '{"a":[1,null]}'],
    ['null', null, 'null'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ])('as %s is data, text for a model, and counted', async (_, value, text) => {
    const { result, bytes, text: hashed } = await give(value)
    expect(result).toMatchObject({ ok: true, status: 'ok', callId: 'c1', tool: 'x.give', artifacts: [] })
    expect(result.content).toEqual([{ type: 'text', text }])
    expect(result.data).toEqual(JSON.parse(JSON.stringify(value)))
    expect(hashed).toBe(JSON.stringify(value))
    expect(bytes).toBe(JSON.stringify(value).length)
    expect(Object.keys(result.meta)).toEqual(['durationMs', 'attempts'])
  })

  const circle: Record<string, unknown> = {}
  circle.self = circle
  it.each<[string, unknown, RegExp, string | undefined]>([
    ['nothing', undefined, /it returned undefined$/, 'Return a JSON value, or null for no value.'],
    ['a function', () => {}, /it returned a function$/, undefined],
    ['a circle', circle, /it cannot be written as JSON \([^\n]+\)$/, undefined],
    ['a large number', { n: 1n }, /it cannot be written as JSON \(Do not know how/, undefined],
  ])('is refused as %s', async (_, value, message, hint) => {
    const error = await failureOf(value)
    expect(error).toMatchObject({
      code: 'OUTPUT_SCHEMA_INVALID',
      message: expect.stringMatching(message),
      fix: { hint: hint ?? ERRORS.OUTPUT_SCHEMA_INVALID.fix },
    })
    expect((error as ToolError).message).toMatch(/^The output of x\.give is invalid: /)
  })

  it('fits its schema, which may take its time', async () => {
    const output = z.strictObject({ n: z.number().default(7) })
    const slow = z.string().refine(async (text) => text !== 'bad')
    expect((await give({}, { tool: { output } })).result.data).toEqual({ n: 7 })
    expect(await failureOf({ n: 'x' }, { tool: { output } })).toMatchObject({
      code: 'OUTPUT_SCHEMA_INVALID',
      message: expect.stringContaining('its output: n '),
    })
    expect((await give('good', { tool: { output: slow } })).result.data).toBe('good')
    expect(await failureOf('bad', { tool: { output: slow } })).toMatchObject({ code: 'OUTPUT_SCHEMA_INVALID' })
  })

  it('is changed by hooks, and then checked again', async () => {
    const output = z.strictObject({ n: z.number() })
    const hook = (data: unknown): Hooks => ({ after: (_, { data: before }) => ({ data: data ?? before }) })
    expect((await give({ n: 1 }, { tool: { output }, hooks: hook({ n: 2 }) })).result.data).toEqual({ n: 2 })
    expect(await failureOf({ n: 1 }, { tool: { output }, hooks: hook('x') })).toMatchObject({
      code: 'OUTPUT_SCHEMA_INVALID',
    })
    expect((await give({ n: 1 }, { tool: { output }, hooks: { after: () => undefined } })).result.data).toEqual({
      n: 1,
    })
  })

  it('has no secret in it, and is nobody else’s object', async () => {
    const data = { list: [1], key: `a ${SECRET}` }
    const { result } = await give(data)
    expect(JSON.stringify(result)).not.toContain(SECRET)
    const plain = { list: [1] }
    const own = (await give(plain)).result.data as typeof plain
    plain.list.push(2)
    expect(own).toEqual({ list: [1] })
    // What no JSON can hold is a defect, also where a secret was taken out of it.
    expect(await failureOf({ key: SECRET, n: 1n })).toMatchObject({ code: 'OUTPUT_SCHEMA_INVALID' })
  })

  it('is shown to a model as the tool says, or the dialect by whose name it was called', async () => {
    const tool = {
      toModel: (data: unknown, { maxChars }: { maxChars: number }) => `tool ${data} ${SECRET} ${maxChars}`,
      dialects: { coding: { name: 'give', toModel: () => [{ type: 'text', text: 'dialect' }] } },
    }
    expect(textOf(await give(1, { tool, outputChars: 500 }))[0]).toMatch(/^tool 1 \[redacted:[a-z-]+\] 500$/)
    const { runtime, run, call } = world({ tool })
    call.call.wire = 'give'
    const found = { ...call.valid.found, dialect: call.tool.dialects.get('give') }
    expect(textOf(await succeed(runtime, run, found, 1))).toEqual(['dialect'])
    await expect(give(1, { tool: { toModel: () => [{ type: 'video' }] } })).rejects.toThrow(
      'toModel must return a string or a list of blocks of type text, image, audio, resource, resource-link.',
    )
    await expect(give(1, { tool: { toModel: () => 7 } })).rejects.toThrow(TypeError)
    const blocks = ['text', 'image', 'audio', 'resource', 'resource-link'].map((type) => ({ type, data: '' }))
    expect((await give(1, { tool: { toModel: () => blocks } })).result.content).toEqual(blocks)
  })

  it('is proven by the tool itself, or else by the call', async () => {
    expect((await give('done')).result.evidence).toEqual([{ type: 'tool', ref: 'c1', summary: 'done' }])
    const { runtime, run, call } = world()
    call.call.report.evidence.push({ type: 'file', ref: '/a', summary: `has ${SECRET}` })
    const { evidence } = (await succeed(runtime, run, call.valid.found, 'done')).result
    expect(evidence).toEqual([{ type: 'file', ref: '/a', summary: expect.stringMatching(/^has \[redacted/) }])
  })
})

describe('a text that is too long for a model', () => {
  const LONG = `BEGIN${'.'.repeat(1_000)}END`

  it.each<[number | undefined, number | undefined, number, boolean]>([
    [undefined, undefined, 30_000, true],
    [undefined, undefined, 30_001, false],
    [100, undefined, 100, true],
    [100, undefined, 101, false],
    [100, 50, 51, false],
    [50, 100, 51, false],
    [undefined, 50, 50, true],
  ])(
    'where the tool says %s and the owner %s: %d characters fit: %s',
    async (maxOutputChars, outputChars, length, fits) => {
      const { result, kept } = await give('x'.repeat(length), { tool: { maxOutputChars }, outputChars })
      expect([result.meta.truncated === undefined, kept.length]).toEqual([fits, fits ? 0 : 1])
    },
  )

  it('is cut, which is counted, and the whole is an artifact', async () => {
    const { result, kept } = await give(LONG, { outputChars: 200 })
    const [text] = textOf({ result, bytes: 0 })
    expect(text).toMatch(/^BEGIN.*\n… \[\d+ characters cut; the whole is artifact:1\] …\n.*END$/s)
    expect(text!.length).toBeLessThanOrEqual(200)
    expect(kept).toEqual([{ content: LONG, options: { name: 'c1.txt', mediaType: 'text/plain' } }])
    expect(result.artifacts).toEqual([{ ref: 'artifact:1' }])
    expect(result.meta.truncated).toEqual({ artifact: 'artifact:1', cutChars: Number(/\[(\d+) /.exec(text!)![1]) })
  })

  it('is cut without an artifact where no records are kept', async () => {
    const { result } = await give(LONG, { outputChars: 200, keepsRecords: false })
    expect(textOf({ result, bytes: 0 })[0]).toMatch(/\[\d+ characters cut\]/)
    expect(result.artifacts).toEqual([])
    expect(Object.keys(result.meta.truncated!)).toEqual(['cutChars'])
  })

  it.each<[string, RegExp, number]>([
    ['head', /^BEGIN\.+\n… .* …\n$/s, 1_003],
    ['tail', /^\n… .* …\n\.+END$/s, 1_003],
    ['middle', /^BEGIN.*END$/s, 1_003],
    ['artifact', /^BEGIN\.+\n… .* …\n$/s, 1_000],
  ])('is cut as the tool says: %s', async (overflow, shown, most) => {
    const long = `BEGIN${'.'.repeat(2_000)}END`
    const [text] = textOf(await give(long, { tool: { overflow, maxOutputChars: 1_003 } }))
    expect(text).toMatch(shown)
    expect(text!.length).toBeLessThanOrEqual(most)
    expect(text!.length).toBeGreaterThan(most - 10)
  })

  it('is joined from several blocks, and pictures stay', async () => {
    const image = { type: 'image', data: 'x', mediaType: 'image/png' }
    const toModel = () => [{ type: 'text', text: LONG }, image, { type: 'text', text: 'more' }]
    const { result, kept } = await give(1, { tool: { toModel }, outputChars: 200 })
    expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/more$/) }, image])
    expect(kept[0]!.content).toBe(`${LONG}\nmore`)
    const short = () => [{ type: 'text', text: 'a'.repeat(100) }, image, { type: 'text', text: 'b'.repeat(101) }]
    expect((await give(1, { tool: { toModel: short }, outputChars: 200 })).result.meta.truncated).toBeDefined()
    expect((await give(1, { tool: { toModel: short }, outputChars: 201 })).result.meta.truncated).toBeUndefined()
  })
})

describe('what fails', () => {
  it('says what, and what to do, without secrets', () => {
    const { runtime, call } = world()
    call.call.report.artifacts.push({ ref: 'artifact:1' } as never)
    const error = new ToolError('NOT_FOUND', `No ${SECRET}.\nAt all.`, { fix: { key: 'a.b', value: 7, hint: 'Look.' } })
    const { result, bytes, text } = fail(runtime, call.call, error)
    expect(result).toMatchObject({
      ok: false,
      status: 'error',
      callId: 'c1',
      tool: 'x.give',
      summary: expect.stringMatching(/^No \[redacted:[a-z-]+\]\.$/),
      artifacts: [{ ref: 'artifact:1' }],
      error: { code: 'NOT_FOUND', retryable: false, fix: { key: 'a.b', value: 7, hint: 'Look.' } },
      evidence: [{ type: 'tool', ref: 'c1', summary: expect.stringMatching(/^NOT_FOUND: No \[red[^\n]+$/) }],
    })
    expect(result.content).toEqual([{ type: 'text', text }])
    expect(text).toMatch(/^NOT_FOUND: No \[redacted:[a-z-]+\]\.\nAt all\. Look\.$/)
    expect([bytes, call.call.report.failure]).toEqual([0, error])
    expect(JSON.stringify(result)).not.toContain(SECRET)
  })

  it.each<[string, ConstructorParameters<typeof ToolError>[0], string | undefined, string]>([
    ['the owner', 'POLICY_DENIED', 'policy', 'Only the owner can change this; tell the user: Do it.'],
    ['the model, by another key', 'POLICY_DENIED', 'limits.run', 'Do it.'],
    ['the model, which is to blame', 'NOT_FOUND', 'policy', 'Do it.'],
  ])('tells what to do to %s', (_, code, key, advice) => {
    const { runtime, call } = world()
    const { result } = fail(runtime, call.call, new ToolError(code, 'No.', { fix: { key, hint: 'Do it.' } }))
    expect(result.content).toEqual([{ type: 'text', text: `${code}: No. ${advice}` }])
  })

  it('keeps the advice apart from the output of a program', () => {
    const { runtime, call } = world()
    const refused = new ToolError('INPUT_SCHEMA_INVALID', 'foo(\n   ^\nerror: unclosed group', { hint: 'Mend it.' })
    const [block] = fail(runtime, call.call, refused).result.content
    expect(block).toMatchObject({ text: expect.stringMatching(/unclosed group\nMend it\.$/) })
  })

  it('has a fix that is JSON, or only its hint', () => {
    const { runtime, call } = world()
    const error = new ToolError('NOT_FOUND', 'No.', { fix: { key: 'a', value: 1n as never, hint: 'Do it.' } })
    expect(fail(runtime, call.call, error).result.error.fix).toEqual({ hint: 'Do it.' })
  })

  it('is what was thrown, or why the call was stopped, or a defect', () => {
    const { call } = world()
    const own = new ToolError('NOT_FOUND', 'No.')
    expect(asToolError(call.call, own)).toBe(own)
    const cause = new Error('oops')
    const defect = { code: 'INTERNAL', message: 'x.give failed because of a defect (call c1).' }
    expect(asToolError(call.call, cause)).toMatchObject({ ...defect, cause })
    for (const change of [{ code: 'NO_CODE' }, { code: 'toString' }, { message: 7 }, { fix: undefined }, { fix: {} }])
      expect(asToolError(call.call, Object.assign(new ToolError('NOT_FOUND', 'No.'), change))).toMatchObject(defect)
    expect(asToolError(call.call, Object.assign(new Error('x'), { code: 'ENOSPC' }))).toMatchObject({
      code: 'OUT_OF_RESOURCES',
      message: 'x.give could not run: the disk is full.',
    })
    const stopped = new ToolError('ABORTED', 'stopped')
    call.call.abort(stopped)
    expect(asToolError(call.call, own)).toBe(stopped)
  })

  it('may give something nevertheless, which goes the way of every output', async () => {
    const { runtime, run, call } = world({ outputChars: 100 })
    call.call.report.failure = new ToolError('UPSTREAM_ERROR', 'Exit code 1.')
    const { result, bytes } = await failWithData(runtime, run, call.valid.found, 'x'.repeat(200))
    expect(result).toMatchObject({ ok: false, summary: 'Exit code 1.', data: 'x'.repeat(200) })
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('characters cut') }])
    expect(result.artifacts).toEqual([{ ref: 'artifact:1' }])
    expect(result.meta.truncated).toBeDefined()
    expect(bytes).toBe(202)
  })
})

describe('a dry run', () => {
  const decided = (effect: 'allow' | 'ask') => {
    const { call } = world({ options: { dryRun: true } })
    call.effect = effect
    call.decision = {
      effect,
      rule: 'allow x',
      reason: `Why.${DOUBT_DETAILS}bad text`,
      fix: { hint: 'Fix it.' },
    } as never
    call.call.decided = call
    return call
  }

  it('says what would run, and by which rule', () => {
    const summary = 'Dry run: x.give would run, by allow x.'
    expect(rehearsed(decided('allow'))).toEqual({
      result: {
        ok: true,
        status: 'ok',
        callId: 'c1',
        tool: 'x.give',
        summary,
        data: undefined,
        content: [{ type: 'text', text: summary }],
        artifacts: [],
        evidence: [{ type: 'tool', ref: 'c1', summary }],
        meta: { durationMs: expect.any(Number), attempts: 0, dryRun: true, rule: 'allow x' },
      },
      bytes: 0,
    })
  })

  it('says what would be asked, without what only a person reads', () => {
    expect(() => rehearsed(decided('ask'))).toThrow(
      expect.objectContaining({
        code: 'APPROVAL_UNAVAILABLE',
        message: 'Dry run: x.give would ask, by allow x: Why.',
        fix: { hint: 'Fix it.' },
      }),
    )
  })
})

it('the end of a call says what became of it beside its data', async () => {
  const { runtime, run, call } = world()
  call.decision = { rule: 'allow x' } as never
  Object.assign(call.call, { decided: call, approvedBy: 'ada', execution: { isAbandoned: true, attempts: 2 } })
  call.call.report.isUntrusted = true
  call.call.report.notices.push('Look here.')
  const { meta } = (await succeed(runtime, run, call.valid.found, 1)).result
  expect(meta).toEqual({
    durationMs: expect.any(Number),
    attempts: 2,
    abandoned: true,
    labels: ['untrusted'],
    rule: 'allow x',
    approvedBy: 'ada',
    notices: ['Look here.'],
  })
  expect(meta.durationMs).toBeGreaterThan(0)
  expect(meta.durationMs).toBeLessThan(performance.now())
  expect(Number.isInteger(Math.round(meta.durationMs * 1e6) / 1e3)).toBe(true)
})
