import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../../core/src/options.ts'
import { defineTool } from '../../../core/src/tool.ts'
import type { RecordedLine } from '../records/log/run-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-principals-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
const increment = defineTool({
  name: 'test.increment',
  description: 'Count.',
  input: z.strictObject({}),
  capabilities: [],
  execute: () => ++count,
})

function newHub(options: HubOptions = {}) {
  const root = mkdtempSync(join(folder, 'hub-'))
  const hub = createToolHub({ tools: [increment], runs: join(root, 'runs'), data: join(root, 'data'), ...options })
  return { hub, root }
}

describe('hub.as', () => {
  it('names the principal in every record, and tells the lines as they come', async () => {
    const { hub, root } = newHub()
    const lines: RecordedLine[] = []
    hub.onRecord((line) => lines.push(line))
    const ada = hub.as({ name: 'token:ada' })
    await ada.callDynamic('test.increment', {})
    await hub.close()
    const path = join(root, 'runs', ada.run, 'events.jsonl')
    const written = readFileSync(path, 'utf8').trimEnd().split('\n')
    const ended = written.map((line) => JSON.parse(line)).find(({ type }) => type === 'call-ended')
    expect(ended).toMatchObject({ principal: 'token:ada', caller: 'token:ada' })
    expect(lines.map(({ seq }) => seq)).toEqual(written.map((_, index) => index + 1))
    expect(lines.at(-1)!.bytes).toBe(readFileSync(path).length)
  })

  it('shows fewer tools and adds rules, never the other way round', async () => {
    const { hub } = newHub({ visibility: { deny: ['core/json.select'] }, policy: [{ deny: 'read:fs' }] })
    const all = hub.as({ name: 'a', visibility: { profile: 'full' }, policy: [{ allow: 'read:fs' }] })
    const few = hub.as({ name: 'b', visibility: { allow: ['test.increment'] }, policy: [{ deny: 'test.increment' }] })
    expect(all.list().map(({ name }) => name)).not.toContain('core/json.select')
    expect((await all.callDynamic('core/fs.readText', { path: 'x' })).error?.code).toBe('POLICY_DENIED')
    expect(few.list().map(({ name }) => name)).toEqual(['test.increment'])
    expect((await few.callDynamic('test.increment', {})).error?.code).toBe('POLICY_DENIED')
    expect((await hub.call('test.increment', {})).ok).toBe(true)
    await hub.close()
  })

  it('uses the rules that the owner saved a moment ago', async () => {
    const { hub } = newHub()
    const ada = hub.as({ name: 'ada', policy: [{ ask: 'core/http.*' }] })
    expect((await ada.callDynamic('test.increment', {})).ok).toBe(true)
    hub.setPolicy([{ deny: 'test.increment', reason: 'closed' }])
    for (const caller of [ada, hub])
      expect((await caller.callDynamic('test.increment', {})).error).toMatchObject({ code: 'POLICY_DENIED' })
    expect(() => hub.setPolicy([{ allow: 'x', on: 3 } as never])).toThrow()
    expect(hub.policyLayers().owner).toHaveLength(1)
    await hub.close()
  })

  it('gives every principal its own runs, also after a restart', async () => {
    const { hub, root } = newHub()
    const [ada, bob] = [hub.as({ name: 'ada' }), hub.as({ name: 'bob' })]
    expect(ada.run).not.toBe(bob.run)
    expect(hub.as({ name: 'ada' }).run).toBe(ada.run)
    expect((await ada.callDynamic('test.increment', {}, { run: 'shared' })).ok).toBe(true)
    const others = await bob.callDynamic('test.increment', {}, { run: 'shared' })
    expect(others.error).toMatchObject({ code: 'NOT_FOUND' })
    await expect(bob.artifact(`artifact:${'0'.repeat(64)}`, { run: 'shared' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(bob.endRun('shared')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await hub.call('test.increment', {}, { run: 'owners' })).ok).toBe(true)
    expect((await ada.callDynamic('test.increment', {}, { run: 'owners' })).error?.code).toBe('NOT_FOUND')
    await expect(ada.endRun('owners')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await hub.close()
    const next = createToolHub({ tools: [increment], runs: join(root, 'runs'), data: join(root, 'data') })
    for (const run of ['shared', 'owners'])
      await expect(next.as({ name: 'bob' }).endRun(run), run).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await next.as({ name: 'bob' }).endRun('never-begun')
    expect(existsSync(join(root, 'runs', 'never-begun'))).toBe(false)
    expect((await next.as({ name: 'bob' }).callDynamic('test.increment', {}, { run: 'shared' })).error?.code).toBe(
      'NOT_FOUND',
    )
    expect((await next.as({ name: 'ada' }).callDynamic('test.increment', {}, { run: 'shared' })).ok).toBe(true)
    await next.close()
  })

  it('counts the budget and the rate of each by itself', async () => {
    const { hub } = newHub()
    const ada = hub.as({ name: 'ada', budget: { calls: 1 } })
    const bob = hub.as({ name: 'bob', rate: { perSecond: 0.001, burst: 1 } })
    for (const one of [ada, bob]) expect((await one.callDynamic('test.increment', {})).ok).toBe(true)
    expect((await ada.callDynamic('test.increment', {})).error?.code).toBe('BUDGET_EXCEEDED')
    expect((await bob.callDynamic('test.increment', {})).error?.code).toBe('RATE_LIMITED')
    await hub.close()
  })

  it('keeps the folders of one from the others', async () => {
    const { hub, root } = newHub()
    for (const name of ['a', 'b']) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'mine.txt'), `of ${name}`)
    }
    const [ada, bob] = ['a', 'b'].map((name) => hub.as({ name, roots: [{ path: join(root, name), mode: 'write' }] }))
    expect((await ada!.callDynamic('core/fs.readText', { path: 'mine.txt' })).data).toMatchObject({ text: 'of a' })
    expect((await bob!.callDynamic('core/fs.readText', { path: 'mine.txt' })).data).toMatchObject({ text: 'of b' })
    const outside = await ada!.callDynamic('core/fs.readText', { path: join(root, 'b', 'mine.txt') })
    expect(outside.error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    expect(readdirSync(join(root, 'a'))).toEqual(['mine.txt'])
    await hub.close()
  })

  it('shows the tools of a source that one connected to nobody else', async () => {
    const { hub } = newHub()
    const [ada, bob] = [hub.as({ name: 'ada' }), hub.as({ name: 'bob' })]
    const own = defineTool({ ...increment, name: 'ada.own' })
    ada.connect({ name: 'own', start: (host) => void host.offer([own]) })
    await ada.ready()
    expect((await ada.callDynamic('ada.own', {})).ok).toBe(true)
    for (const other of [bob, hub]) expect((await other.callDynamic('ada.own', {})).error?.code).toBe('TOOL_NOT_FOUND')
    expect(bob.cards().map(({ tool }) => tool)).not.toContain('ada.own')
    await hub.close()
  })

  it('lets everybody use a name for tools of their own, and nobody one of the hub', async () => {
    const { hub } = newHub()
    const [ada, bob] = [hub.as({ name: 'ada' }), hub.as({ name: 'bob' })]
    const bring = (who: typeof ada, source: string, name: string, answer: string) => {
      let refused: readonly { why: string }[] = []
      const tool = defineTool({ ...increment, name, execute: () => answer })
      who.connect({
        name: source,
        start(host) {
          refused = host.offer([tool])
        },
      })
      return refused
    }
    expect(bring(ada, 'one', 'open.file', 'ada')).toEqual([])
    expect(bring(bob, 'two', 'open.file', 'bob')).toEqual([])
    const answers = [ada, bob].map(async (who) => (await who.callDynamic('open.file', {})).data)
    expect(await Promise.all(answers)).toEqual(['ada', 'bob'])
    expect(bring(ada, 'three', 'test.increment', 'mine')).toMatchObject([{ why: expect.stringContaining('taken') }])
    // A client that comes again, while its old connection is not known to be gone, has its tools.
    expect(bring(ada, 'four', 'open.file', 'ada again')).toEqual([])
    expect((await ada.callDynamic('open.file', {})).data).toBe('ada again')
    // A tool that the hub gets later is the one that is meant.
    hub.registry.register(defineTool({ ...increment, name: 'open.file', execute: () => 'hub' }))
    expect((await bob.callDynamic('open.file', {})).data).toBe('hub')
    await hub.close()
  })

  it('takes a key for the same call whichever run it is made in', async () => {
    const { hub } = newHub()
    const ada = hub.as({ name: 'ada' })
    const first = await ada.callDynamic('test.increment', {}, { run: 'one', idempotencyKey: 'k' })
    const again = await ada.callDynamic('test.increment', {}, { run: 'two', idempotencyKey: 'k' })
    expect(again).toMatchObject({ data: first.data, meta: { cached: true } })
    const other = await hub.as({ name: 'bob' }).callDynamic('test.increment', {}, { idempotencyKey: 'k' })
    expect(other.data).not.toBe(first.data)
    await hub.close()
  })

  it('refuses a principal without a name', () => {
    const { hub } = newHub()
    for (const name of ['', 'a\nb', 3]) expect(() => hub.as({ name: name as string })).toThrow('needs a name')
  })
})

describe('a principal within another', () => {
  const parent = {
    name: 'parent',
    visibility: { deny: ['core/util.time.now'] },
    policy: [{ ask: 'read:fs' as const }],
    budget: { calls: 2 },
  }

  it('sees and may no more than the other, whatever it says of itself', async () => {
    const { hub } = newHub({ policy: [{ allow: 'test.increment' }] })
    const child = hub.as({ name: 'parent/child', policy: [{ allow: 'read:fs' }], within: parent })
    expect(child.list().map(({ name }) => name)).not.toContain('core/util.time.now')
    expect((await child.explain('core/fs.readText', { path: 'x' })).effect).toBe('ask')
    expect((await child.callDynamic('core/util.time.now', {})).error?.code).toBe('TOOL_DISABLED')
    expect((await child.callDynamic('test.increment', {})).ok).toBe(true)
    hub.setPolicy([{ deny: 'test.increment' }])
    expect((await child.callDynamic('test.increment', {})).error?.code).toBe('POLICY_DENIED')
    await hub.close()
  })

  it('uses up the budget of the other, and its own on top', async () => {
    const { hub } = newHub()
    const greedy = hub.as({ name: 'parent/greedy', budget: { calls: 100 }, budgetFor: 'ever', within: parent })
    const modest = hub.as({ name: 'parent/modest', budget: { calls: 0 }, budgetFor: 'ever', within: parent })
    expect((await modest.callDynamic('test.increment', {})).error?.code).toBe('BUDGET_EXCEEDED')
    for (const ok of [true, true, false]) expect((await greedy.callDynamic('test.increment', {})).ok).toBe(ok)
    const after = await hub.as(parent).callDynamic('test.increment', {})
    expect(after.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    await hub.close()
  })

  it('is charged to the runs that began it', async () => {
    const { hub } = newHub({ limits: { run: { calls: 2 } } })
    const child = hub.as({ name: 'owner/child', chargedRuns: ['first'] })
    expect((await hub.call('test.increment', {}, { run: 'first' })).ok).toBe(true)
    expect((await child.callDynamic('test.increment', {})).ok).toBe(true)
    expect((await child.callDynamic('test.increment', {})).error?.code).toBe('BUDGET_EXCEEDED')
    expect((await hub.call('test.increment', {}, { run: 'first' })).error?.code).toBe('BUDGET_EXCEEDED')
    await hub.close()
  })
})
