import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { defineTool } from '../../core/src/tool.ts'
import type { ScriptResult } from './types.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const WAITS = 'await tools.test.act({}); 1'

/** A hub whose scripts wait a whole hour for an approval before they are suspended. */
function open({ workers }: { readonly workers: number }) {
  const act = defineTool({
    name: 'test.act',
    description: 'Does what a person has to approve.',
    input: z.strictObject({}),
    capabilities: ['remote'],
    targets: () => ({ remote: 'act:it' }),
    execute: () => ({}),
  })
  const folder = temporaryFolder('code')
  const hub = createToolHub({
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    store: openStore(join(folder, 'store')),
    tools: [act],
    policy: [{ ask: 'remote' }],
    approvals: { inbox: true },
    code: { suspendAfterMs: 3_600_000, workers },
  })
  closing.push(() => hub.close())
  const run = async (code: string, principal?: string) => {
    const view = principal === undefined ? hub : hub.as({ name: principal })
    const result = await view.callDynamic('core/code.run', { code })
    if (!result.ok) throw new Error(result.error.message)
    return result.data as ScriptResult
  }
  const whenAsked = (count: number) =>
    new Promise<void>((resolve) => {
      let asked = 0
      hub.onEvent((event) => void (event.type === 'approval-requested' && ++asked === count && resolve()))
    })
  return { hub, run, whenAsked }
}

describe('a script that waits for people', () => {
  it('returns its worker while others wait, so nobody waits for the people of others', async () => {
    const { run, whenAsked } = open({ workers: 4 })
    const asked = whenAsked(20)
    const all = Array.from({ length: 20 }, () => run(WAITS, 'token:a'))
    expect(await run('1 + 1', 'token:b')).toMatchObject({ status: 'completed', value: 2 })
    await asked
    expect(await run('1 + 1', 'token:b')).toMatchObject({ status: 'completed', value: 2 })
    // The last two have workers that nobody waits for.
    const ended: ScriptResult[] = []
    await new Promise<void>((resolve) => {
      for (const script of all) void script.then((result) => void (ended.push(result) === 18 && resolve()))
    })
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 'suspended'))
    await closing.pop()!()
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 'suspended'))
  })

  it('keeps its worker while nobody wants it', async () => {
    const { hub, run, whenAsked } = open({ workers: 2 })
    const asked = whenAsked(1)
    const script = run(WAITS, 'token:a')
    await asked
    expect(await run('1', 'token:b')).toMatchObject({ value: 1 })
    const [request] = await hub.approvals.list()
    await hub.approvals.answer(request!.id, { decision: 'allow', by: 'ada' })
    expect(await script).toMatchObject({ status: 'completed', value: 1 })
  })

  it('uses the share of the principal that started its session', async () => {
    const { hub, run, whenAsked } = open({ workers: 2 })
    const asked = whenAsked(1)
    const session = { name: 'token:a/s1', within: { name: 'token:a' } }
    const first = hub.as(session).callDynamic('core/code.run', { code: WAITS })
    await asked
    expect(await run('1', 'token:a')).toMatchObject({ value: 1 })
    expect(await first).toMatchObject({ data: { status: 'suspended' } })
  })
})
