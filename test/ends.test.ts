import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../packages/core/src/options.ts'
import { definePlugin } from '../packages/core/src/plugin.ts'
import { type Context, defineTool } from '../packages/core/src/tool.ts'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'

const nothing = z.strictObject({})
const SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'

/** A tool that does what the test says. */
function tool(execute: (ctx: Context) => unknown, more: object = {}) {
  return defineTool({
    name: 'x.do',
    description: 'Does as the test says.',
    input: nothing,
    execute: (_, ctx) => execute(ctx),
    ...more,
  })
}

const hubs: TestHub[] = []
function open(options: HubOptions): TestHub {
  const hub = testHub(options) as TestHub
  hubs.push(hub)
  return hub
}
afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close({ abort: true })
})

describe('nothing that is thrown or handed over keeps a call from its one end', () => {
  const broken = Object.assign(new ToolError('NOT_FOUND', 'x'), { code: 'NO_SUCH_CODE' })
  const hostile: [string, (ctx: Context) => unknown][] = [
    [
      'an object without a prototype',
      () => {
        throw Object.create(null)
      },
    ],
    [
      'an error of ours with a code that does not exist',
      () => {
        throw broken
      },
    ],
    [
      'an error without a message',
      () => {
        throw Object.assign(new Error('x'), { message: undefined })
      },
    ],
    [
      'an object whose text cannot be had',
      () => {
        throw {
          toString() {
            throw new Error('no')
          },
        }
      },
    ],
    ['evidence that is none', (ctx) => ctx.evidence(null as never)],
    ['progress that is none', (ctx) => ctx.progress(42 as never)],
  ]
  for (const [what, execute] of hostile) {
    it(what, async () => {
      const hub = open({ tools: [tool(execute)] })
      expect((await hub.callDynamic('x.do', {})).error?.code).toMatch(/^(INTERNAL|TOOL_FAILED)$/)
      await hub.endRun(hub.run)
      expect(await verifyRun(join(hub.folder, 'runs', hub.run))).toMatchObject({ ok: true, calls: 1 })
    })
  }

  it('options that no call can have', async () => {
    const hub = open({ tools: [tool(() => 1)] })
    const wrong: object[] = [
      { signal: {} },
      { idempotencyKey: 1 },
      { timeoutMs: 'soon' },
      { grants: ['root'] },
      { callerKind: 'god' },
      { rum: 'x' },
      { run: 5 },
    ]
    for (const options of wrong) expect((await hub.callDynamic('x.do', {}, options)).error?.code).toBe('CONFIG_INVALID')
    expect((await hub.callDynamic('x.do', {}, null as never)).ok).toBe(true)
  })

  it('a late rejection that cannot be shown', async () => {
    const clock = fakeClock()
    let reject: (error: unknown) => void = () => {}
    const hub = open({
      tools: [
        tool(
          () =>
            new Promise((_, no) => {
              reject = no
            }),
          { timeoutMs: 10 },
        ),
      ],
      clock,
    })
    const call = hub.callDynamic('x.do', {})
    await clock.advance(2_000)
    expect((await call).status).toBe('timeout')
    reject(Object.create(null))
    await clock.advance(0)
    expect((await eventsOf(hub)).at(-1)).toMatchObject({ type: 'call-late', ok: false })
  })
})

describe('a stopped call', () => {
  it('never starts its tool, wherever on the road it was stopped', async () => {
    let ran = 0
    const stopper = new AbortController()
    const doing = tool(() => ++ran, { capabilities: ['memory'] })
    const hub = open({ tools: [doing], policy: [{ allow: 'memory' }], hooks: [{ before: () => stopper.abort() }] })
    expect((await hub.callDynamic('x.do', {}, { signal: stopper.signal })).status).toBe('aborted')
    expect(ran).toBe(0)
  })

  it('leaves nothing behind: no place, no budget, no key', async () => {
    const stopper = new AbortController()
    const hub = open({
      tools: [tool(() => 'ran')],
      limits: { concurrency: 1, run: { calls: 1 } },
      hooks: [{ before: () => stopper.abort() }],
    })
    for (let i = 0; i < 3; i++) await hub.callDynamic('x.do', {}, { signal: stopper.signal, idempotencyKey: 'k' })
    expect((await hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })).data).toBe('ran')
  })
})

describe('secrets', () => {
  it('are in no record and no result: not in errors, stacks, details, fixes, purposes or targets', async () => {
    const leaking = defineTool({
      name: 'x.leak',
      description: 'Puts a secret everywhere, for tests.',
      input: z.strictObject({ how: z.enum(['ours', 'defect']) }),
      capabilities: ['memory'],
      targets: () => ({ memory: `team/${SECRET}` }),
      execute({ how }, ctx): string {
        ctx.progress(SECRET)
        ctx.evidence({ type: 'text', ref: SECRET, summary: SECRET })
        if (how === 'defect') throw new Error(SECRET)
        throw new ToolError('NOT_FOUND', SECRET, { hint: SECRET, details: { token: SECRET, deep: [SECRET] } })
      },
    })
    const told: unknown[] = []
    const hub = open({
      tools: [leaking],
      approve: (request) => {
        told.push(request)
        return { decision: 'allow', remember: 'always', covers: 'targets' }
      },
    })
    hub.onEvent((event) => told.push(event))
    for (const how of ['ours', 'defect'] as const) told.push(await hub.call(leaking, { how }, { purpose: SECRET }))
    await hub.endRun(hub.run)
    const folder = join(hub.folder, 'runs', hub.run)
    for (const file of ['events.jsonl', 'logs/tools.jsonl', 'logs/errors.jsonl'])
      told.push(await readFile(join(folder, file), 'utf8'))
    told.push(await hub.grants.list())
    expect(JSON.stringify(told)).not.toContain(SECRET)
  })

  it('keep two targets apart that look alike without them', async () => {
    let asked = 0
    const remember = defineTool({
      name: 'x.remember',
      description: 'Names a target, for tests.',
      input: z.strictObject({ key: z.string() }),
      capabilities: ['memory'],
      targets: ({ key }) => ({ memory: key }),
      execute: () => 'ok',
    })
    const hub = open({
      tools: [remember],
      approve: () => {
        asked++
        return { decision: 'allow', remember: 'always', covers: 'targets' }
      },
    })
    await hub.call(remember, { key: SECRET })
    await hub.call(remember, { key: SECRET.replace('0123', '9876') })
    expect(asked).toBe(2)
  })
})

describe('nested calls', () => {
  const inner = defineTool({
    name: 'x.inner',
    description: 'Is called by another, for tests.',
    input: nothing,
    execute: () => 'inner',
  })
  const outer = tool(async (ctx) => (await ctx.call(inner, {})).data)

  it('go on in the place of their parent, so that one place is enough', async () => {
    const hub = open({ tools: [inner, outer], limits: { concurrency: 1 } })
    expect((await hub.callDynamic('x.do', {})).data).toBe('inner')
  })

  it('still run while the hub waits for their parent to end', async () => {
    let go: () => void = () => {}
    const started = new Promise<void>((resolve) => {
      go = resolve
    })
    const patient = tool(async (ctx) => {
      go()
      await new Promise((resolve) => setImmediate(resolve))
      return (await ctx.call(inner, {})).data
    })
    const hub = open({ tools: [inner, patient] })
    const call = hub.callDynamic('x.do', {})
    await started
    await hub.close()
    expect((await call).data).toBe('inner')
  })

  it('count against the budget of their run', async () => {
    const hub = open({ tools: [inner, outer], limits: { run: { calls: 1 } } })
    expect((await hub.callDynamic('x.do', {})).data).toBeUndefined()
  })
})

describe('closing', () => {
  it('twice concurrently is closing once', async () => {
    let closed = 0
    const hub = open({
      tools: [tool(() => new Promise((resolve) => setImmediate(resolve, 1)))],
      plugins: [{ name: 'p', close: () => void closed++ }],
    })
    const call = hub.callDynamic('x.do', {})
    await Promise.all([hub.close(), hub.close()])
    expect((await call).data).toBe(1)
    expect(closed).toBe(1)
  })

  it('closes every plugin, and reports the failure of one', async () => {
    let closed = 0
    const plugins = [
      { name: 'bad', close: () => Promise.reject(new Error('stuck door')) },
      { name: 'good', close: () => void closed++ },
    ]
    const hub = testHub({ plugins })
    await expect(hub.close()).rejects.toThrow('stuck door')
    expect(closed).toBe(1)
  })

  it('a run waits for its calls, whose ends are on record', async () => {
    const hub = open({ tools: [tool(() => new Promise((resolve) => setImmediate(resolve, 'late')))] })
    const call = hub.callDynamic('x.do', {})
    await hub.endRun(hub.run)
    expect((await call).data).toBe('late')
    expect((await eventsOf(hub)).filter(({ type }) => type === 'call-ended')).toHaveLength(1)
  })

  it('idle runs beyond 256 keeps their budget and their taint, and a call meanwhile waits', async () => {
    const fetching = defineTool({
      name: 'x.net',
      description: 'Counts as content from outside, for tests.',
      input: nothing,
      capabilities: ['network'],
      execute: () => 'fetched',
    })
    const sending = defineTool({
      name: 'x.mem',
      description: 'Sends something out, for tests.',
      input: nothing,
      capabilities: ['memory'],
      execute: () => 'sent',
    })
    const hub = open({
      tools: [fetching, sending],
      durability: 'behind',
      limits: { run: { calls: 2 } },
      policy: [{ allow: 'memory' }, { deny: 'memory', when: { tainted: true } }],
    })
    await hub.callDynamic('x.net', {}, { run: 'first' })
    await hub.callDynamic('x.net', {}, { run: 'first' })
    for (let i = 0; i < 256; i++) void hub.callDynamic('core/util.time.now', {}, { run: `r${i}` })
    const [tainted, again] = await Promise.all([
      hub.callDynamic('x.mem', {}, { run: 'first' }),
      hub.callDynamic('x.net', {}, { run: 'first' }),
    ])
    expect(tainted.error?.code).toBe('POLICY_DENIED')
    expect(again.error?.code).toBe('BUDGET_EXCEEDED')
  })
})

describe('what was judged is what runs', () => {
  const shell = defineTool({
    name: 'x.shell',
    description: 'Pretends to run a command, for tests.',
    input: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
    capabilities: ['exec'],
    targets: ({ cmd }) => ({ exec: cmd }),
    execute: ({ cmd }) => cmd,
  })

  it('though the caller changes the arguments while the call is on its way', async () => {
    const hub = open({ tools: [shell], policy: [{ allow: 'exec', on: 'git status' }] })
    const input = { cmd: 'git status' }
    const call = hub.call(shell, input)
    for (let i = 0; i < 6; i++) await null
    input.cmd = 'rm -rf /'
    expect((await call).data).toBe('git status')
  })

  it('although a listener changes the approval request that it receives', async () => {
    const hub = open({
      tools: [shell],
      policy: [{ ask: 'exec' }],
      approve: () => new Promise((resolve) => setImmediate(resolve, { decision: 'allow' })),
    })
    hub.onEvent((event) => {
      if (event.type === 'approval-requested')
        expect(() => Object.assign(event.request.input as object, { cmd: 'rm -rf /' })).toThrow()
    })
    expect((await hub.call(shell, { cmd: 'git status' })).data).toBe('git status')
  })

  it('though a proxy answers something else the second time', async () => {
    let reads = 0
    const input = new Proxy(
      { cmd: 'git status' },
      {
        getOwnPropertyDescriptor: () => ({
          value: ++reads > 1 ? 'rm -rf /' : 'git status',
          configurable: true,
          enumerable: true,
          writable: true,
        }),
        get: () => 'rm -rf /',
      },
    )
    const hub = open({ tools: [shell], policy: [{ allow: 'exec', on: 'git status' }] })
    expect((await hub.call(shell, input)).data).toBe('git status')
  })

  it('and nobody changes the result that a key is kept for', async () => {
    const hub = open({ tools: [tool(() => ({ list: [1] }), { capabilities: ['memory'] })] })
    const first = (await hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })).data as { list: number[] }
    first.list.push(666)
    const second = (await hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })).data as { list: number[] }
    second.list.push(666)
    expect((await hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })).data).toEqual({ list: [1] })
  })
})

describe('data', () => {
  it('is what JSON says of it, and no longer the object of the tool', async () => {
    const own = { list: [1], when: new Date(0), skip: () => 1 }
    const hub = open({ tools: [tool(() => own, { capabilities: ['memory'] })] })
    const [first, second] = await Promise.all([1, 2].map(() => hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })))
    own.list.push(666)
    expect([first?.data, second?.data]).toEqual([
      { list: [1], when: '1970-01-01T00:00:00.000Z' },
      { list: [1], when: '1970-01-01T00:00:00.000Z' },
    ])
  })

  it('of a fix that cannot be written as JSON is left out, and the call ends', async () => {
    const failing = () => {
      throw new ToolError('NOT_FOUND', 'x', { fix: { key: 'k', value: () => 1n, hint: 'Look elsewhere.' } })
    }
    const hub = open({ tools: [tool(failing, { capabilities: ['memory'] })] })
    const result = await hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })
    expect(result.error).toMatchObject({ code: 'NOT_FOUND', fix: { hint: 'Look elsewhere.' } })
    expect((await hub.callDynamic('x.do', {}, { idempotencyKey: 'k' })).error?.code).toBe('NOT_FOUND')
  })
})

describe('files', () => {
  const writer = defineTool({
    name: 'x.write',
    description: 'Writes to the path in its input, for tests.',
    input: z.strictObject({ path: z.string(), says: z.string(), overwrite: z.boolean().default(false) }),
    capabilities: ['write:fs', 'danger:destructive'],
    targets: ({ says }) => ({ 'write:fs': says, 'danger:destructive': says }),
    execute: ({ path, overwrite }, ctx) => ctx.fs.writeText(path, 'x', { overwrite }),
  })

  it('that a tool did not name are overwritten only where a rule allows to destroy them', async () => {
    const root = await mkdtemp(join(tmpdir(), 'ends-'))
    const hub = open({ tools: [writer], sandbox: { root }, policy: [{ allow: 'danger:destructive', on: '**/a.md' }] })
    for (const name of ['a.md', 'b.md']) await writeFile(join(root, name), 'not read by this run')
    expect((await hub.call(writer, { path: 'a.md', says: 'a.md', overwrite: true })).ok).toBe(true)
    expect((await hub.call(writer, { path: 'b.md', says: 'a.md', overwrite: true })).error?.code).toBe('POLICY_DENIED')
    expect(await readFile(join(root, 'b.md'), 'utf8')).toBe('not read by this run')
    await rm(root, { recursive: true })
  })

  it('of the hub itself stay closed, also when the way to them is a link', async () => {
    const base = await mkdtemp(join(tmpdir(), 'tool-hub-linked-'))
    await mkdir(join(base, 'real'))
    await symlink(join(base, 'real'), join(base, 'link'))
    const linked = createToolHub({
      tools: [writer],
      runs: join(base, 'link/runs'),
      data: join(base, 'link/state'),
      sandbox: { root: join(base, 'link') },
      policy: [{ allow: 'danger:destructive' }],
    })
    for (const path of ['state/grants.json', 'runs/other/events.jsonl']) {
      expect((await linked.call(writer, { path, says: 'ok.md' })).error?.code).toBe('PATH_DENIED')
    }
    await linked.close()
    await rm(base, { recursive: true })
  })
})

describe('waiting has an end', () => {
  it('also before the tool: a schema or a plugin that never answers is stopped by the caller or by the time', async () => {
    const never = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => new Promise(() => {}),
        jsonSchema: { input: () => ({}), output: () => ({}) },
      },
    } as const
    const clock = fakeClock()
    const hub = open({
      tools: [
        defineTool({
          name: 'x.never',
          description: 'Has a schema that never answers.',
          input: never as never,
          execute: () => 1,
        }),
      ],
      clock,
    })
    const timed = hub.callDynamic('x.never', {})
    await clock.advance(60_000)
    expect((await timed).status).toBe('timeout')
    const stopper = new AbortController()
    const stopped = hub.callDynamic('x.never', {}, { signal: stopper.signal })
    stopper.abort()
    expect((await stopped).status).toBe('aborted')
    const stuck = testHub({ plugins: [{ name: 'stuck', setup: () => new Promise(() => {}) }] })
    const waiting = stuck.callDynamic('core/util.time.now', {})
    await stuck.close({ abort: true })
    expect((await waiting).status).toBe('aborted')
  })

  it('a tool that calls itself is stopped', async () => {
    const again: ReturnType<typeof tool> = tool((ctx) =>
      ctx.call('x.do', {}).then(({ data, error }) => data ?? error?.code),
    )
    expect((await open({ tools: [again] }).callDynamic('x.do', {})).data).toBe('LOOP_DETECTED')
  })

  it('a thrown proxy, and a stack that throws, end the call', async () => {
    const trap = () => {
      throw new Error('trap')
    }
    const stack = Object.defineProperty(new Error('x'), 'stack', { get: trap })
    for (const thrown of [new Proxy({}, { has: trap, getPrototypeOf: trap, get: trap }), stack]) {
      const hub = open({
        tools: [
          tool(() => {
            throw thrown
          }),
        ],
      })
      expect((await hub.callDynamic('x.do', {})).error?.code).toMatch(/^(INTERNAL|TOOL_FAILED)$/)
      expect((await eventsOf(hub)).filter(({ type }) => type === 'call-ended')).toHaveLength(1)
      await hub.close()
    }
  })
})

describe('the order of the road', () => {
  it('asks nobody for a tool that is paused', async () => {
    let asked = 0
    const failing = tool(
      () => {
        throw new ToolError('UPSTREAM_ERROR', 'down')
      },
      { capabilities: ['memory'] },
    )
    const hub = open({
      tools: [failing],
      approve: () => {
        asked++
        return { decision: 'allow' }
      },
    })
    for (let i = 0; i < 4; i++) await hub.callDynamic('x.do', {}, { run: `r${i}` })
    await hub.callDynamic('x.do', {}, { run: 'r5' })
    expect((await hub.callDynamic('x.do', {}, { run: 'r6' })).error?.code).toBe('CIRCUIT_OPEN')
    expect(asked).toBe(5)
  })

  it('blames the budget when the budget ended the call', async () => {
    const clock = fakeClock()
    const hub = open({ tools: [tool(() => new Promise(() => {}))], clock, limits: { run: { wallMs: 50 } } })
    const call = hub.callDynamic('x.do', {})
    await clock.advance(2_000)
    expect((await call).error).toMatchObject({ code: 'BUDGET_EXCEEDED', fix: { key: 'limits.run.time' } })
  })

  it('does not let a tool reach past a decide hook for what it did not name', async () => {
    const sneaky = defineTool({
      name: 'x.sneak',
      description: 'Writes another file than it says, for tests.',
      input: nothing,
      capabilities: ['write:fs'],
      targets: () => ({ 'write:fs': 'a.md' }),
      execute: (_, ctx) => ctx.fs.writeText('b.md', 'x'),
    })
    const hub = open({
      tools: [sneaky],
      hooks: [{ decide: ({ targets }) => (targets.some(({ value }) => value.endsWith('b.md')) ? 'deny' : undefined) }],
    })
    expect((await hub.callDynamic('x.sneak', {})).error?.code).toBe('POLICY_DENIED')
  })

  it('lets nothing pass after a plugin failed immediately', async () => {
    const hub = open({})
    const guard = definePlugin({
      name: 'guard',
      required: true,
      setup() {
        throw new Error('no')
      },
    })
    expect(() => hub.use(guard)).toThrow(/guard/)
    expect((await hub.callDynamic('core/util.time.now', {})).error?.message).toMatch(/guard/)
  })

  it('keeps the tool that a clash did not replace', async () => {
    const hub = open({
      plugins: [
        {
          name: 'p',
          tools: [
            tool(() => 'first'),
            defineTool({ name: 'y.do', description: 'Another tool, for tests.', input: nothing, execute: () => 1 }),
          ],
        },
      ],
    })
    const clashing = tool(() => 'second', { dialects: { coding: { name: 'y.do' } } })
    expect(() => hub.registry.register(clashing)).toThrow(/taken by the tool y\.do/)
    expect((await hub.callDynamic('x.do', {})).data).toBe('first')
  })
})
