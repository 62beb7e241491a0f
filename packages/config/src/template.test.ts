import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SourcedRule } from '../../core/src/principal.ts'
import { loadConfig } from './load-config.ts'
import { configTemplate } from './template.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
  vi.stubEnv('GITHUB_TOKEN', 'a-token-for-the-test')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function load(text: string) {
  await writeFile(path.join(folder, 'tool-hub.yaml'), text)
  return loadConfig({ cwd: folder })
}

describe('configTemplate', () => {
  it('loads as it is, without a warning, and allows nothing but commands that only read', async () => {
    const { options, warnings } = await load(configTemplate())
    expect(warnings).toEqual([])
    const rules = (options.policy as readonly SourcedRule[]).map(({ rule }) => rule)
    expect(rules.filter(({ allow }) => allow !== undefined)).toMatchObject([{ allow: 'exec', on: 'group:read-only' }])
    expect(rules).toContainEqual(expect.objectContaining({ ask: 'exec' }))
    expect(options.limits).toEqual({ timeoutMs: 60_000, outputChars: 30_000 })
    expect(options.sandbox).toMatchObject({ root: folder })
  })

  it('says what runs without a rule, as the shipped policy decides it', async () => {
    const { options } = await load(configTemplate())
    const hub = createToolHub({ ...options, runs: false, data: undefined })
    onTestFinished(() => hub.close())
    await writeFile(path.join(folder, 'unread.txt'), 'old')
    const codeOf = async (tool: string, input: object) => {
      const result = await hub.callDynamic(tool, input)
      return result.ok ? 'ok' : result.error.code
    }
    expect({
      made: await codeOf('write', { path: 'a.txt', content: 'one' }),
      read: await codeOf('read', { path: 'a.txt' }),
      edited: await codeOf('edit', { path: 'a.txt', oldString: 'one', newString: 'two' }),
      replaced: await codeOf('write', { path: 'unread.txt', content: 'new' }),
      deleted: await codeOf('core/fs.deletePath', { path: 'a.txt', confirm: true }),
    }).toEqual({ made: 'ok', read: 'ok', edited: 'ok', replaced: 'POLICY_DENIED', deleted: 'POLICY_DENIED' })
    expect(configTemplate().replaceAll(/\n# /g, ' ')).toContain(
      'files in the sandbox may be read, made and edited; deleting, and replacing files that the run has not read, are denied',
    )
  })

  it('loads with every example switched on', async () => {
    await writeFile(path.join(folder, 'plugin.mjs'), 'export default () => ({ name: "x" })')
    const [, ...lines] = configTemplate().split('\n')
    const all = lines
      .join('\n')
      .replaceAll(/^( *)# (?=[-a-zA-Z]+: |- |sandbox:| {2})/gm, '$1')
      .replaceAll(/"@acme\/tool-hub-jira"|\.\/plugins\/redact\.mjs/g, './plugin.mjs')
    const { options } = await load(all)
    expect(options.policy).toHaveLength(8)
    expect(Object.keys(options).sort()).toEqual([
      'approvals',
      'data',
      'limits',
      'mcpServers',
      'plugins',
      'policy',
      'redact',
      'runs',
      'sandbox',
      'secrets',
      'skills',
      'visibility',
      'web',
    ])
  })

  it('names a budget below limits by that key in messages', async () => {
    const { options } = await load('limits: { calls: 5, run: { time: 1m } }')
    expect(options.limits).toEqual({ run: { calls: 5, wallMs: 60_000 }, shortKeys: ['calls'] })
  })

  it('tells editors where the schema is', () => {
    expect(configTemplate().split('\n')[0]).toBe(
      '# yaml-language-server: $schema=./node_modules/tool-hub/config.schema.json',
    )
  })
})
