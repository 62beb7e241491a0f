import type { CallToolResult } from '@modelcontextprotocol/client'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import type { BaseContext } from '../../core/src/tool.ts'
import { settleAnswer } from './to-tool.ts'

const text = (value: string) => ({ type: 'text' as const, text: value })
const nested = (levels: number): never =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`) as never

/** Settles an answer; what it keeps, and what it says about that. */
function settle(
  answer: Partial<CallToolResult>,
  { hasOutput = false, failure }: { hasOutput?: boolean; failure?: Error } = {},
) {
  const kept: unknown[] = []
  const notices: string[] = []
  const artifact = async (content: string | Buffer, { mediaType }: { mediaType: string }) => {
    if (failure) throw failure
    return { ref: `ref-${kept.push([mediaType, String(content)])}` }
  }
  const ctx = { artifact, notice: (told: string) => notices.push(told) } as unknown as BaseContext
  const data = settleAnswer({ content: [], ...answer } as CallToolResult, { target: 'mcp:s/t', hasOutput }, ctx)
  return { data, kept, notices }
}

describe('the answer of a server', () => {
  it('is its blocks where it promised no form, with data where there is some', async () => {
    expect(await settle({ content: [text('a')] }).data).toEqual({ content: [text('a')] })
    const structuredContent = { a: 1 }
    expect(await settle({ content: [text('a')], structuredContent }).data).toEqual({
      content: [text('a')],
      structuredContent,
    })
  })

  it('may be nested 100 levels deep', async () => {
    expect(await settle({ structuredContent: nested(100) }, { hasOutput: true }).data).toEqual(nested(100))
    for (const isError of [true, false]) {
      await expect(settle({ structuredContent: nested(101), isError }).data).rejects.toMatchObject({
        code: 'UPSTREAM_ERROR',
        message: 'The answer of mcp:s/t is over 100 levels deep.',
        retryable: false,
      })
    }
  })

  it('is missing where the server promised data', async () => {
    await expect(settle({ content: [text('{}')] }, { hasOutput: true }).data).rejects.toMatchObject({
      code: 'OUTPUT_SCHEMA_INVALID',
      message: 'mcp:s/t promises data of a certain form and answered without.',
      fix: { hint: 'Report it to the author of the server.' },
    })
  })

  it('is an error with the text of the server, at most 4,000 characters', async () => {
    const hint = 'Read the message of the server; correct the arguments, or use another tool.'
    const failed = (content: CallToolResult['content'], hasOutput = false) =>
      settle({ content, isError: true }, { hasOutput }).data
    const image = { type: 'image' as const, data: '', mimeType: 'image/png' }
    await expect(failed([text(' no'), image, text('row ')])).rejects.toMatchObject({
      code: 'EXEC_FAILED',
      message: 'no\nrow',
      fix: { hint },
      data: { content: [text(' no'), { type: 'image' }, text('row ')] },
    })
    await expect(failed([text('x'.repeat(4_001))])).rejects.toMatchObject({ message: 'x'.repeat(4_000) })
    const silent = { code: 'EXEC_FAILED', message: 'mcp:s/t failed and does not say why.', data: undefined }
    await expect(failed([])).rejects.toMatchObject(silent)
    await expect(failed([text(' ')], true)).rejects.toMatchObject(silent)
    await expect(failed([text('no row')], true)).rejects.toMatchObject({ message: 'no row', data: undefined })
  })

  it('keeps what came beside data of a form, except for its text', async () => {
    const blob = Buffer.from('bytes').toString('base64')
    const link = { type: 'resource_link', uri: 'file:///c', name: 'c' } as const
    const answer: Partial<CallToolResult> = {
      structuredContent: { a: 1 },
      content: [
        text('{"a":1}'),
        { type: 'image', data: blob, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a', text: '' } },
        { type: 'resource', resource: { uri: 'file:///b', blob } },
        link,
      ],
    }
    const { data, kept, notices } = settle(answer, { hasOutput: true })
    expect(await data).toEqual({ a: 1 })
    expect(kept.slice(0, 3)).toEqual([
      ['image/png', 'bytes'],
      ['text/plain', ''],
      ['application/octet-stream', 'bytes'],
    ])
    const [mediaType, written] = kept[3] as [string, string]
    expect([mediaType, JSON.parse(written)]).toEqual([
      'text/plain',
      { type: 'resource-link', uri: 'file:///c', name: 'c' },
    ])
    expect(notices).toEqual([
      'The answer came with a block of the type image: ref-1',
      'The answer came with a block of the type resource: ref-2',
      'The answer came with a block of the type resource: ref-3',
      'The answer came with a link: ref-4',
    ])
  })

  it('is whole where what came beside it cannot be kept, unless that is a defect', async () => {
    const content: CallToolResult['content'] = [{ type: 'image', data: '', mimeType: 'image/png' }]
    const answer = { structuredContent: { a: 1 }, content }
    const { data, notices } = settle(answer, {
      hasOutput: true,
      failure: new ToolError('FILE_TOO_LARGE', 'the disk is full'),
    })
    expect(await data).toEqual({ a: 1 })
    expect(notices).toEqual(['The answer came with a block of the type image: it could not be kept, the disk is full'])
    const defect = new Error('a defect')
    await expect(settle(answer, { hasOutput: true, failure: defect }).data).rejects.toBe(defect)
  })
})
