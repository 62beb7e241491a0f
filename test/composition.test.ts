import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'

const fetchPage = defineTool({
  name: 'demo/http.fetchText',
  description: 'Fetches a page from an allowed host, for tests.',
  input: z.strictObject({ url: z.url() }),
  output: z.strictObject({ status: z.int(), text: z.string() }),
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  async execute({ url }, ctx) {
    const response = await ctx.fetch(url)
    ctx.evidence({ type: 'url', ref: url, summary: `status ${response.status}` })
    return { status: response.status, text: await response.text() }
  },
})
const writeReport = defineTool({
  name: 'demo/fs.writeText',
  description: 'Writes a report into the sandbox, for tests.',
  input: z.strictObject({ path: z.string(), text: z.string() }),
  output: z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string() }),
  capabilities: ['write:fs'],
  targets: ({ path }) => ({ 'write:fs': path }),
  async execute({ path, text }, ctx) {
    const written = await ctx.fs.writeText(path, text)
    ctx.evidence({ type: 'file', ref: path, summary: `${written.bytes} bytes, sha256 ${written.sha256}` })
    return { path, ...written }
  },
})

const server = createServer((_, response) =>
  response.end(
    JSON.stringify({
      items: [
        { name: 'pen', price: 2 },
        { name: 'car', price: 9e4 },
      ],
    }),
  ),
)
let origin = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const sandbox = { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] }

describe('tools in a chain', () => {
  it('fetch, select, render and write, each governed, with evidence a program can check', async () => {
    const hub = testHub({ tools: [fetchPage, writeReport], sandbox })
    const page = await hub.call(fetchPage, { url: `${origin}/prices.json` })
    if (!page.ok) throw new Error(page.error.message)
    const cheap = await hub.call('core/util.json.select', {
      json: JSON.parse(page.data.text),
      path: '$.items[?@.price < 10].name',
    })
    if (!cheap.ok) throw new Error(cheap.error.message)
    const report = await hub.call('core/util.template.render', {
      template: '# Cheap\n{{#names}}- {{.}}\n{{/names}}',
      data: { names: cheap.data.value },
    })
    if (!report.ok) throw new Error(report.error.message)
    const saved = await hub.call(writeReport, { path: 'report.md', text: report.data.text })
    expect(report.data.text).toBe('# Cheap\n- pen\n')
    expect(saved.evidence).toEqual([
      { type: 'file', ref: 'report.md', summary: expect.stringMatching(/^14 bytes, sha256 [0-9a-f]{64}$/) },
    ])
    const twice = await hub.call(writeReport, { path: 'report.md', text: 'again' })
    expect(twice.error?.code).toBe('CONFLICT')
    await hub.close()
  })

  it('reach no host and no private address that the owner did not name', async () => {
    const closed = testHub({ tools: [fetchPage] })
    expect((await closed.call(fetchPage, { url: `${origin}/` })).error).toMatchObject({
      code: 'HTTP_DISALLOWED_HOST',
      fix: { key: 'sandbox.network' },
    })
    await closed.close()
    const halfOpen = testHub({ tools: [fetchPage], sandbox: { network: ['127.0.0.1'] } })
    expect((await halfOpen.call(fetchPage, { url: `${origin}/` })).error?.code).toBe('HTTP_DISALLOWED_HOST')
    await halfOpen.close()
  })
})

describe('constraints that the documents put on arguments', () => {
  it('absolute paths, ranges and "old differs from new" are held by the schema, before anything runs', async () => {
    let ran = 0
    const execute = () => ++ran
    const tools = [
      defineTool({
        name: 'doc.write',
        description: 'Wants an absolute path, for tests.',
        input: z.strictObject({ filePath: z.string().startsWith('/') }),
        execute,
      }),
      defineTool({
        name: 'doc.bash',
        description: 'Wants a timeout in range, for tests.',
        input: z.strictObject({ timeout: z.int().min(0).max(600_000) }),
        execute,
      }),
      defineTool({
        name: 'doc.edit',
        description: 'Wants a real change, for tests.',
        input: z
          .strictObject({ oldString: z.string(), newString: z.string() })
          .refine((edit) => edit.oldString !== edit.newString, 'oldString and newString are the same'),
        execute,
      }),
    ]
    const hub = testHub({ tools })
    expect((await hub.callDynamic('doc.write', { filePath: 'relative.md' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await hub.callDynamic('doc.bash', { timeout: 600_001 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await hub.callDynamic('doc.edit', { oldString: 'a', newString: 'a' })).error?.message).toContain('the same')
    expect(ran).toBe(0)
    expect((await hub.callDynamic('doc.edit', { oldString: 'a', newString: 'b' })).ok).toBe(true)
    await hub.close()
  })
})
