import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import type { HubOptions } from './options.ts'
import { fromHandlerTool, type HandlerTool } from './plugin.ts'
import { toExecutorResult } from './result-formats.ts'

/** The definition that the document of ToolDefinition and Handler shows. */
const readFileTool: HandlerTool = {
  name: 'read_part',
  description: 'Reads a file.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The path of the file.' },
      start_line: { type: 'integer' },
      end_line: { type: 'integer' },
    },
    required: ['path'],
  },
  category: 'file',
  tags: ['file', 'read'],
  version: '1.0.0',
  default_timeout: '10s',
  max_output_size: 1024 * 1024,
  async handler(_ctx, args) {
    const { path, start_line = 1, end_line } = args as { path: string; start_line?: number; end_line?: number }
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      return { content: `Error reading file: ${(error as Error).message}`, is_error: true }
    }
    const lines = text.split('\n').slice(start_line - 1, end_line)
    return { content: lines.join('\n'), is_error: false, metadata: { lines: lines.length } }
  },
}

function open(options: HubOptions = {}) {
  const hub = testHub(options)
  onTestFinished(() => hub.close())
  return hub
}

const anyArguments = { type: 'object' } as const

describe('a tool definition with a handler', () => {
  it('is registered as it is, listed, called, and answers with its content and metadata', async () => {
    const file = join(temporaryFolder(), 'a.txt')
    await writeFile(file, 'one\ntwo\nthree')
    const hub = open({ policy: [{ allow: 'read_part' }] })
    hub.registry.register(readFileTool)
    expect(hub.registry.get('read_part')).toMatchObject({
      category: 'file',
      tags: ['file', 'read'],
      version: '1.0.0',
      timeoutMs: 10_000,
      maxOutputChars: 1_048_576,
    })
    expect(hub.registry.listForLLM()).toContainEqual({
      name: 'read_part',
      description: 'Reads a file.',
      parameters: expect.objectContaining({ required: ['path'] }),
    })
    const result = await hub.callDynamic('read_part', { path: file, start_line: 2 })
    expect(result).toMatchObject({
      ok: true,
      content: [{ type: 'text', text: 'two\nthree' }],
      data: { content: 'two\nthree', is_error: false, metadata: { lines: 2 } },
    })
    expect(toExecutorResult(result, 'call-1')).toEqual({
      tool_call_id: 'call-1',
      content: 'two\nthree',
      is_error: false,
    })
    expect((await hub.callDynamic('read_part', {})).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('fails with what it says: by is_error, or by throwing', async () => {
    const missing = join(temporaryFolder(), 'missing.txt')
    const hub = open()
    hub.registry.register({ ...readFileTool, capabilities: [] })
    hub.registry.register({
      name: 'throws',
      description: 'x',
      parameters: anyArguments,
      capabilities: [],
      handler: () => Promise.reject(new Error('the disk is on fire')),
    })
    const said = `Error reading file: ENOENT: no such file or directory, open '${missing}'`
    const failed = await hub.callDynamic('read_part', { path: missing })
    expect(failed).toMatchObject({
      ok: false,
      status: 'error',
      error: { code: 'TOOL_FAILED', message: said },
      data: { content: said, is_error: true },
    })
    expect(toExecutorResult(failed, 'call-2')).toEqual({ tool_call_id: 'call-2', content: said, is_error: true })
    expect(toExecutorResult(await hub.callDynamic('throws', {}), 'call-3')).toEqual({
      tool_call_id: 'call-3',
      content: 'the disk is on fire',
      is_error: true,
    })
  })

  it('is denied until somebody says what it touches, or a rule allows it', async () => {
    const hub = open()
    hub.registry.register(readFileTool)
    expect((await hub.callDynamic('read_part', { path: 'a' })).error?.code).toBe('POLICY_DENIED')
  })

  it('keeps to its time and to its size, and hears when it is stopped', async () => {
    const hub = open()
    let wasStopped = false
    hub.registry.register({
      name: 'slow',
      description: 'x',
      parameters: anyArguments,
      capabilities: [],
      default_timeout: 20,
      handler: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            wasStopped = true
            reject(signal.reason)
          })
        }),
    })
    hub.registry.register({
      name: 'long',
      description: 'x',
      parameters: anyArguments,
      capabilities: [],
      max_output_size: 1_000,
      handler: () => ({ content: 'x'.repeat(5_000), is_error: false }),
    })
    expect((await hub.callDynamic('slow', {})).status).toBe('timeout')
    expect(wasStopped).toBe(true)
    const { content, meta } = await hub.callDynamic('long', {})
    expect(meta.truncated?.cutChars).toBeGreaterThan(3_000)
    expect(content[0]).toMatchObject({ text: expect.stringContaining('characters cut') })
  })

  it('gets an error that says what is wrong with it', async () => {
    const hub = open()
    const define = (wrong: object) => () => hub.registry.register({ ...readFileTool, ...wrong } as HandlerTool)
    expect(define({ default_timeout: 'soon' })).toThrow('default_timeout of read_part')
    expect(define({ default_timeout: 0 })).toThrow('default_timeout of read_part')
    expect(define({ max_output_size: -1 })).toThrow('max_output_size of read_part')
    expect(define({ handler: 'x' })).toThrow('handler')
    expect(define({ parameters: undefined })).toThrow('has no input schema')
    hub.registry.register({ ...readFileTool, capabilities: [], handler: () => 'just text' as never })
    expect((await hub.callDynamic('read_part', { path: 'a' })).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
  })

  it('comes in by every way: with the hub, by a plugin, and governed by a call', async () => {
    const say = (name: string): HandlerTool => ({
      name,
      description: 'x',
      parameters: anyArguments,
      handler: (_ctx, { word }) => ({ content: `${name} ${word}`, is_error: false }),
    })
    const hub = open({
      tools: [fromHandlerTool(say('a'), { capabilities: [] })],
      plugins: [{ name: 'p', setup: (api) => api.registerTool(say('b')) }],
      policy: [{ allow: 'b' }],
    })
    await hub.ready()
    for (const name of ['a', 'b']) {
      expect((await hub.callDynamic(name, { word: 'hi' })).content).toEqual([{ type: 'text', text: `${name} hi` }])
    }
  })
})
