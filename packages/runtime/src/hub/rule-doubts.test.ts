import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../../core/src/options.ts'
import type { Rule } from '../../../core/src/principal.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'

const add = defineTool({
  name: 'math.add',
  description: 'Adds, for tests.',
  input: z.strictObject({ a: z.number() }),
  execute: ({ a }) => a + 1,
})

afterEach(() => void vi.restoreAllMocks())

/** Makes a hub with `add`, calls it twice, waits for the reports and returns the warnings. */
async function warningsOf(options: HubOptions): Promise<string[]> {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const hub = testHub({ tools: [add], ...options })
  try {
    await hub.callDynamic('math.add', { a: 1 })
    await hub.callDynamic('math.add', { a: 1 })
    await hub.ready()
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    return warn.mock.calls.map(([text]) => String(text))
  } finally {
    await hub.close()
  }
}

describe('doubts about the rules', () => {
  it('are emitted as warnings by the first call, once', async () => {
    const warnings = await warningsOf({
      policy: [{ allow: 'write:fs' }, { deny: 'core/fs.writeTxt' }, { deny: 'exce' }],
      visibility: { deny: ['math.sub'] },
    })
    expect(warnings).toEqual([
      expect.stringMatching(
        /^policy\[1\]: deny core\/fs\.writeTxt: .* it will deny nothing\. Did you mean core\/fs\.writeText/,
      ),
      'policy[2]: deny exce: no tool has this name, so it will deny nothing. Did you mean exec?',
      expect.stringMatching(/^tools\.deny has "math\.sub"/),
    ])
  })

  it('are found although the schema of a tool has no JSON Schema form', async () => {
    const dated = defineTool({
      name: 'math.days',
      description: 'Counts days, for tests.',
      input: z.strictObject({ since: z.date() }),
      execute: () => 1,
    })
    const policy: Rule[] = [{ allow: 'math.days', where: { since: 'from-user' } }, { deny: 'exce' }]
    expect(await warningsOf({ tools: [add, dated], policy })).toEqual([expect.stringContaining('deny exce')])
  })

  it('are not about rules without mistakes, also on tools of plugins and of sources that start late', async () => {
    const late = { ...add, name: 'late.add' as const }
    const offered = { ...add, name: 'offered.add' as const }
    const warnings = await warningsOf({
      policy: [{ deny: 'late.add' }, { deny: 'offered.add' }, { deny: 'coming.soon' }, { ask: 'exec' }],
      plugins: [{ name: 'p', setup: async (api) => api.registerTool(await Promise.resolve(late)) }],
      sources: [
        {
          name: 's',
          async start(host) {
            host.expect('coming.', new Promise(() => {}))
            await new Promise((resolve) => setImmediate(resolve))
            host.offer([offered])
          },
        },
      ],
    })
    expect(warnings).toEqual([])
  })

  it('are not emitted if the program has asked for them', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const hub = testHub({ tools: [add], policy: [{ deny: 'exce' }] })
    expect(hub.check()).toHaveLength(1)
    await hub.call(add, { a: 1 })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    await hub.close()
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('a path of a rule in code', () => {
  it('that starts above sandbox.root is reported with the path that was probably meant', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'doubts-')))
    const warnings = await warningsOf({
      sandbox: { root: join(root, 'app') },
      policy: [{ rule: { allow: 'write:fs', on: './src/**' }, source: { file: 'policy[0]' }, base: root }],
    })
    rmSync(root, { recursive: true })
    expect(warnings).toContainEqual(
      expect.stringMatching(/^policy\[0\]: .*matches nothing below sandbox\.root.*\.\/app\/src\/\*\*/),
    )
  })
})

describe('strict', () => {
  it('refuses every call and ready() while a rule is doubtful', async () => {
    const hub = testHub({ tools: [add], policy: [{ deny: 'exce' }], strict: true })
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('Did you mean exec?') }
    expect(await hub.call(add, { a: 1 })).toMatchObject({ ok: false, error: refused })
    await expect(hub.ready()).rejects.toMatchObject(refused)
    expect(await hub.as({ name: 'token:ci' }).callDynamic('math.add', { a: 1 })).toMatchObject({
      ok: false,
      error: refused,
    })
    await hub.close()
  })

  it('allows rules without doubts, and refuses doubtful ones that would replace them', async () => {
    const hub = testHub({ tools: [add], policy: [{ deny: 'exec' }], strict: true })
    await hub.ready()
    expect(await hub.call(add, { a: 1 })).toMatchObject({ ok: true, data: 2 })
    expect(() => hub.setPolicy([{ deny: 'math.ad' }])).toThrow(/Did you mean math.add/)
    hub.setPolicy([{ deny: 'math.add' }])
    expect(await hub.call(add, { a: 1 })).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    await hub.close()
  })
})
