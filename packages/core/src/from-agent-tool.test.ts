import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { toAgentTools } from '../../adapters/src/agent-tools.ts'
import { toToolDefinitions } from '../../adapters/src/tool-definitions.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import { type AgentTool, fromAgentTool } from './from-agent-tool.ts'
import type { HubOptions } from './options.ts'
import { jsonResult, toAgentToolResult } from './result-formats.ts'

/** The tool that the document of AgentTool shows. */
function createReadTool(): AgentTool<{ file_path: string }> {
  return {
    name: 'read',
    description: 'Reads a file.',
    parameters: Type.Object({ file_path: Type.String({ description: 'The path of the file.' }) }),
    async execute(_toolCallId, params) {
      const content = await readFile(params.file_path, 'utf8')
      return {
        content: [{ type: 'text', text: content }],
        details: { path: params.file_path, lines: content.split('\n').length },
      }
    },
  }
}

const PURE = { capabilities: [] } as const

function open(options: HubOptions) {
  const hub = testHub(options)
  onTestFinished(() => hub.close())
  return hub
}

async function fileWith(text: string): Promise<string> {
  const file = join(temporaryFolder(), 'notes.md')
  await writeFile(file, text)
  return file
}

describe('an AgentTool that went in comes out as it was', () => {
  it('with its own details, by every way out', async () => {
    const file = await fileWith('one\ntwo\nthree')
    const hub = open({ tools: [fromAgentTool(createReadTool(), PURE)] })
    const expected = { content: [{ type: 'text', text: 'one\ntwo\nthree' }], details: { path: file, lines: 3 } }
    const [definition] = toToolDefinitions(hub, { names: ['read'] })
    const [tool] = toAgentTools(hub, { names: ['read'] })
    expect(await definition!.execute('call-1', { file_path: file })).toEqual(expected)
    expect(await tool!.execute('call-2', { file_path: file })).toEqual(expected)
    expect(toAgentToolResult(await hub.callDynamic('read', { file_path: file }))).toEqual(expected)
  })

  it('with images and without details, where it returned none', async () => {
    const content = [
      { type: 'text' as const, text: 'MEDIA:/a.png' },
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
    ]
    const image = { path: '/a.png', width: 800, height: 600 }
    const parameters = Type.Object({})
    const hub = open({
      plugins: [
        {
          name: 'p',
          setup: (api) => {
            api.registerTool({
              name: 'shot',
              description: 'x',
              parameters,
              execute: async () => ({ content, details: image }),
            })
            api.registerTool({ name: 'bare', description: 'x', parameters, execute: async () => ({ content }) })
            api.registerTool({
              name: 'json',
              description: 'x',
              parameters,
              execute: async () => jsonResult({ result: 'ok' }),
            })
          },
        },
      ],
      policy: [{ allow: 'shot' }, { allow: 'bare' }, { allow: 'json' }],
    })
    await hub.ready()
    const run = async (name: string) => toAgentToolResult(await hub.callDynamic(name, {}))
    expect(await run('shot')).toEqual({ content, details: image })
    expect(await run('bare')).toEqual({ content })
    expect(await run('json')).toEqual(jsonResult({ result: 'ok' }))
  })
})

describe('an AgentTool that throws', () => {
  it('says why, to the model and to the log, in its own words', async () => {
    const missing = join(temporaryFolder(), 'missing.md')
    const log: string[] = []
    const hub = open({ tools: [fromAgentTool(createReadTool(), PURE)] })
    const [read] = toToolDefinitions(hub, { names: ['read'], log: (line) => log.push(line) })
    const error = `ENOENT: no such file or directory, open '${missing}'`
    const failed = await read!.execute('call-1', { file_path: missing })
    expect(failed).toEqual(jsonResult({ status: 'error', tool: 'read', error }))
    expect(log).toEqual([`[tools] read failed: ${error}`])
    const result = await hub.callDynamic('read', { file_path: missing })
    expect(result).toMatchObject({ status: 'error', error: { code: 'TOOL_FAILED', message: error, retryable: false } })
  })

  it('is not paused for other arguments', async () => {
    const folder = temporaryFolder()
    const file = await fileWith('here')
    const hub = open({ tools: [fromAgentTool(createReadTool(), PURE)] })
    for (let i = 0; i < 10; i++) {
      const { error } = await hub.callDynamic('read', { file_path: join(folder, `${i}.md`) })
      expect(error?.code).toBe('TOOL_FAILED')
    }
    expect((await hub.callDynamic('read', { file_path: file })).ok).toBe(true)
  })

  it('throws anything: nothing at all, a text, hidden characters, a novel', async () => {
    const thrown: unknown[] = [
      undefined,
      'just text',
      new Error('a\u202Eb'),
      new Error('x'.repeat(5_000)),
      new Error(''),
    ]
    const throwing: AgentTool<{ which: number }> = {
      name: 'throwing',
      description: 'x',
      parameters: Type.Object({ which: Type.Number() }),
      execute: async (_toolCallId, { which }) => {
        throw thrown[which]
      },
    }
    const hub = open({ tools: [fromAgentTool(throwing, PURE)] })
    const said = await Promise.all(
      thrown.map(async (_, which) => (await hub.callDynamic('throwing', { which })).error?.message),
    )
    expect(said.slice(0, 3)).toEqual(['undefined', 'just text', 'a\\u{202e}b'])
    expect(said[3]).toBe(`${'x'.repeat(2_000)}…`)
    expect(said[4]).toBe('throwing did not say why it failed.')
  })

  it('still tells of a machine that has run out of something', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    const tool: AgentTool = {
      name: 'full',
      description: 'x',
      parameters: Type.Object({}),
      execute: () => Promise.reject(full),
    }
    const hub = open({ tools: [fromAgentTool(tool, PURE)] })
    expect((await hub.callDynamic('full', {})).error?.code).toBe('OUT_OF_RESOURCES')
  })
})
