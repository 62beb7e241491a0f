import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileHub } from '../../test/support/file-hub.ts'
import { defineTool } from '../define.ts'

describe('the summary of a call', () => {
  it('says which file was read, and nothing of its text', async () => {
    const { call } = fileHub({ 'notes.md': '{\n  "pin": 4711\n}\n' }, {})
    for (const tool of ['core/fs.readText', 'read', 'read_file']) {
      const { summary } = await call(tool, { path: 'notes.md' })
      expect(summary).toMatch(/^Read a text file: notes\.md, .*18 bytes/)
      expect(summary).not.toContain('4711')
    }
  })

  it('says how a command ended', async () => {
    const { call } = fileHub({}, { policy: [{ allow: 'exec' }] })
    expect((await call('bash', { command: 'echo hello; echo there' })).summary).toMatch(
      /^Run a command: echo hello; echo there, exit code 0/,
    )
  })

  it('is the shape of the data of a tool that proves nothing itself, or its own single line', async () => {
    const report = defineTool({
      name: 'demo.report',
      description: 'Reports.',
      input: z.strictObject({ as: z.enum(['json', 'list', 'line', 'text']) }),
      execute: ({ as }): unknown =>
        ({ json: { city: 'Oslo', degrees: 7 }, list: [1, 2, 3], line: 'Sent it to Ada.', text: 'secret\nthings' })[as],
    })
    const { call } = fileHub({}, { tools: [report] })
    const summaries = await Promise.all(
      ['json', 'list', 'line', 'text'].map(async (as) => (await call('demo.report', { as })).summary),
    )
    expect(summaries).toEqual([
      'demo.report: returned an object with city, degrees',
      'demo.report: returned a list of 3',
      'Sent it to Ada.',
      'demo.report: returned 13 characters of text',
    ])
  })
})
