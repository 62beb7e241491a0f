import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { foundCall } from '../../../../../test/support/call-stages.ts'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import type { ContentBlock, Evidence } from '../../../../core/src/call.ts'
import { type AgentToolResult, fromAgentTool } from '../../../../core/src/from-agent-tool.ts'
import { fromHandlerTool } from '../../../../core/src/plugin.ts'
import { jsonResult } from '../../../../core/src/result-formats.ts'
import { type AnyTool, defineTool } from '../../../../core/src/tool.ts'
import { Call } from './call.ts'
import { registerable } from './registered-tool.ts'
import { oneLine, summarize } from './settle.ts'

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

  it('describes what an AgentTool or a handler returned, not the form around it', async () => {
    const parameters = { type: 'object', properties: {} } as const
    const agentTool = (name: string, result: AgentToolResult) =>
      fromAgentTool({ name, description: 'x', parameters, execute: async () => result }, { capabilities: [] })
    const twoLines = { content: 'one\ntwo', is_error: false }
    const handler = { name: 'h', description: 'x', parameters, handler: () => twoLines, capabilities: [] }
    const tools = [
      agentTool('j', jsonResult({ city: 'Oslo', degrees: 7 })),
      agentTool('t', { content: [{ type: 'text', text: 'one\ntwo' }] }),
      fromHandlerTool(handler),
    ]
    const { call } = fileHub({}, { tools })
    const summaries = await Promise.all(['j', 't', 'h'].map(async (name) => (await call(name, {})).summary))
    expect(summaries).toEqual([
      'j: returned an object with city, degrees',
      't: returned 7 characters of text',
      'h: returned 7 characters of text',
    ])
  })
})

describe('one line', () => {
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.y', caller: 'c', options: {}, input: {} })
  const tool = defineTool({ name: 'x.y', description: 'x', input: {}, execute: () => 1 })
  const found = foundCall(call, registerable(tool as AnyTool, 'caller'))
  const text = (text: string) => ({ type: 'text', text }) as const
  const lineOf = (data: unknown, content: readonly ContentBlock[], evidence: readonly Evidence[] = []) =>
    summarize(found, { data, content, evidence })

  it('is cut at 200 characters and at the end of the first line', () => {
    expect(oneLine('x'.repeat(200))).toBe('x'.repeat(200))
    expect(oneLine('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`)
    expect(oneLine('😀'.repeat(101))).toBe(`${'😀'.repeat(99)}…`)
    expect([oneLine('one\ntwo'), oneLine('\ntwo'), oneLine('one')]).toEqual(['one', '', 'one'])
  })

  it.each<[string, unknown, ContentBlock[], string]>([
    ['the only text', { a: 1 }, [text('Done.')], 'Done.'],
    ['text of 200 characters', { a: 1 }, [text('x'.repeat(200))], 'x'.repeat(200)],
    ['the shape where the text is longer', { a: 1 }, [text('x'.repeat(201))], 'x.y: returned an object with a'],
    ['the shape where there are two texts', { a: 1 }, [text('a'), text('b')], 'x.y: returned an object with a'],
    ['the shape without a text', [1], [], 'x.y: returned a list of 1'],
    ['the shape where the text is empty', 7, [text('')], 'x.y: returned 7'],
    ['the shape of several lines', null, [text('a\nb')], 'x.y: returned null'],
    ['the shape of what is JSON', { a: 1 }, [text('{"a":1}')], 'x.y: returned an object with a'],
    ['the shape of a list in JSON', [1, 2], [text('[1,2]')], 'x.y: returned a list of 2'],
    ['text with brackets in it', { a: 1 }, [text('Saved [a] {b}.')], 'Saved [a] {b}.'],
    ['a text that only looks like JSON', '{"a":1}', [text('{"a":1}')], '{"a":1}'],
    [
      'the shape of a picture',
      'data',
      [{ type: 'image', data: '', mediaType: 'image/png' }],
      'x.y: returned 4 characters of text',
    ],
    ['an empty object', {}, [], 'x.y: returned an object with no keys'],
    ['five keys', { a: 1, b: 1, c: 1, d: 1, e: 1 }, [], 'x.y: returned an object with a, b, c, d, e'],
    ['six keys', { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, [], 'x.y: returned an object with a, b, c, d, e, …'],
    ['long keys', { ['k'.repeat(41)]: 1 }, [], `x.y: returned an object with ${'k'.repeat(40)}`],
  ])('is %s', (_, data, content, line) => {
    expect(lineOf(data, content)).toBe(line)
  })

  it('is what the tool has proven, with where and how much more there is', () => {
    const file = { type: 'file', ref: '/a', summary: 'read' } as const
    expect(lineOf(1, [], [file])).toBe('x.y: /a, read')
    expect(lineOf(1, [], [{ type: 'tool', ref: 'c1', summary: 'did it' }])).toBe('x.y: did it')
    expect(lineOf(1, [], [file, file, file])).toBe('x.y: /a, read (and 2 more)')
  })
})
