import { describe, expect, it, onTestFinished } from 'vitest'
import { fileHub } from '../../../test/support/file-hub.ts'
import { fromAgentTool } from '../../core/src/from-agent-tool.ts'
import { jsonResult, toAgentToolResult } from '../../core/src/result-formats.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import {
  createApplyPatchTool,
  createEditTool,
  createExecTool,
  createProcessTool,
  createReadTool,
  createWriteTool,
} from './coding-tools.ts'
import { toClientToolDefinitions, toToolDefinitions } from './tool-definitions.ts'
import { toToolResultEvent } from './tool-events.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('the tools of a coding agent, one by one', () => {
  it('read, write and edit files by file_path, with the details of their document', async () => {
    const { hub, read } = fileHub({ 'a.md': 'one\ntwo\nthree', 'dot.png': PNG }, {})
    const tool = createReadTool(hub)
    expect(tool).toMatchObject({ name: 'read', parameters: { required: ['file_path'] } })
    expect(Object.keys((tool.parameters as { properties: object }).properties).slice(0, 3)).toEqual([
      ...['file_path', 'offset', 'limit'],
    ])
    expect((await tool.execute('1', { file_path: 'a.md' })).details).toMatchObject({ path: 'a.md', lines: 3 })
    expect((await tool.execute('2', { file_path: 'a.md', offset: 2, limit: 1 })).details).toMatchObject({ lines: 3 })
    const image = await tool.execute('3', { file_path: 'dot.png' })
    expect(image).toMatchObject({
      content: [
        { type: 'text', text: 'MEDIA:dot.png' },
        { type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' },
      ],
      details: { path: 'dot.png', width: 1, height: 1 },
    })
    const written = await createWriteTool(hub).execute('4', { file_path: 'b.md', content: 'text' })
    expect(written.details).toMatchObject({ path: 'b.md', size: 4 })
    await createEditTool(hub).execute('5', { file_path: 'a.md', oldString: 'two', newString: '2' })
    expect(read('a.md')).toBe('one\n2\nthree')
    expect(toAgentToolResult(await hub.callDynamic('core/fs.readText', { path: 'b.md' })).details).toMatchObject({
      lines: 1,
    })
  })

  it('fail under the name that was called', async () => {
    const { hub } = fileHub({}, {})
    const log: string[] = []
    const failed = await createReadTool(hub, { log: (line) => log.push(line) }).execute('1', { file_path: 'x' })
    expect(failed.details).toEqual({ status: 'error', tool: 'read', error: expect.stringContaining('x') })
    expect(log).toEqual([expect.stringMatching(/^\[tools\] read failed: /)])
  })

  it('are those of the hub: hidden ones cannot be made, denied ones fail', async () => {
    const hub = testHub({ visibility: { deny: ['process'] } })
    onTestFinished(() => hub.close())
    expect(() => createProcessTool(hub)).toThrow('No visible tool is named "process"')
    expect(createApplyPatchTool(hub).name).toBe('apply_patch')
    const exec = await createExecTool(hub).execute('1', { command: 'ls' })
    expect(exec.details).toMatchObject({ status: 'error', tool: 'exec' })
  })

  it('become definitions for a loop, as a list', async () => {
    const { hub } = fileHub({ 'a.md': 'one' }, {})
    const broken = { ...createReadTool(hub), name: 'broken', execute: () => Promise.reject(new Error('unreadable')) }
    const log: string[] = []
    const [read, failing] = toToolDefinitions([createReadTool(hub), broken], { log: (line) => log.push(line) })
    expect((await read!.execute('1', { file_path: 'a.md' })).details).toMatchObject({ lines: 1 })
    expect(await failing!.execute('2', {})).toEqual(
      jsonResult({ status: 'error', tool: 'broken', error: 'unreadable' }),
    )
    expect(log).toEqual(['[tools] broken failed: unreadable'])
    const stopped = failing!.execute('3', {}, undefined, undefined, AbortSignal.abort())
    await expect(stopped).rejects.toThrow('unreadable')
  })
})

describe('toClientToolDefinitions', () => {
  it('answers pending, as the document of client tools shows', async () => {
    const parameters = { type: 'object', properties: { of: { type: 'string' } } }
    const [pick, bare] = toClientToolDefinitions([
      { function: { name: 'pick', description: 'Let the user pick.', parameters } },
      { function: { name: 'bare' } },
    ])
    expect(pick).toMatchObject({ name: 'pick', description: 'Let the user pick.', parameters })
    expect(bare!.parameters).toMatchObject({ type: 'object' })
    expect(await pick!.execute('1', { of: 'color' })).toEqual(
      jsonResult({ status: 'pending', tool: 'pick', message: 'Tool execution delegated to client' }),
    )
  })
})

describe('toToolResultEvent', () => {
  it('tells the end of each call as tool-result', async () => {
    const tool = fromAgentTool(
      {
        name: 'half',
        description: 'x',
        parameters: { type: 'object' },
        execute: async (_, params) => {
          if ((params as { fails?: boolean }).fails) throw new Error('no')
          return jsonResult('done')
        },
      },
      { capabilities: [] },
    )
    const hub = testHub({ tools: [tool] })
    onTestFinished(() => hub.close())
    const results: unknown[] = []
    hub.onEvent((event) => {
      const result = toToolResultEvent(event)
      if (result) results.push(result)
    })
    const { callId } = await hub.callDynamic('half', {})
    await hub.callDynamic('half', { fails: true })
    expect(results).toEqual([
      { type: 'tool-result', toolCallId: callId, toolName: 'half', output: jsonResult('done'), isError: false },
      { type: 'tool-result', toolCallId: expect.any(String), toolName: 'half', output: 'no', isError: true },
    ])
  })
})
