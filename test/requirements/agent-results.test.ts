import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import {
  type AgentTool,
  createReadTool,
  createWriteTool,
  fromAgentTool,
  jsonResult,
  type Plugin,
  toAgentTools,
} from '../../packages/library/src/index.ts'
import { startCli } from '../support/cli.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const local = useLoopback()

/** A black PNG image of this size. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const pixels = deflateSync(Buffer.alloc((width + 1) * height))
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

describe('results of an abstraction layer', () => {
  it('a tool is not started after an abort, and a long loop looks for one', async () => {
    const controller = new AbortController()
    const processed: number[] = []
    let isOver: () => void = () => {}
    const over = new Promise<void>((done) => (isOver = done))
    const looping: AgentTool<{ items: number[] }> = {
      name: 'process_items',
      description: 'Processes items one by one.',
      parameters: Type.Object({ items: Type.Array(Type.Number()) }),
      async execute(_toolCallId, { items }, signal) {
        if (signal?.aborted) throw new Error('Tool execution aborted')
        for (const item of items) {
          if (signal?.aborted) break
          await processItem(item)
        }
        isOver()
        return jsonResult({ processed: processed.length })
      },
    }
    const processItem = async (item: number) => {
      processed.push(item)
      if (item === 3) controller.abort()
    }
    const { hub, call, root } = realHub({
      tools: [fromAgentTool(looping, { capabilities: [] })],
      sandbox: LOOPBACK,
    })
    const [tool] = toAgentTools(hub, { names: ['process_items'] })
    const items = { items: [1, 2, 3, 4, 5] }
    const isAbort = expect.objectContaining({ name: 'AbortError' })
    await expect(tool!.execute('call-1', items, AbortSignal.abort())).rejects.toThrow(isAbort)
    expect(processed).toEqual([])
    await expect(tool!.execute('call-2', items, controller.signal)).rejects.toThrow(isAbort)
    await over
    expect(processed).toEqual([1, 2, 3])
    const write = createWriteTool(hub).execute('call-3', { file_path: 'a.txt', content: 'x' }, AbortSignal.abort())
    await expect(write).rejects.toThrow(isAbort)
    const stop = new AbortController()
    const isCutOff = new Promise((cutOff) => {
      local.answer = (_, response) => {
        response.on('close', () => cutOff(response.writableFinished))
        response.writeHead(200, { 'content-length': '1000' })
        response.write('begun', () => stop.abort())
      }
    })
    const download = { url: `http://127.0.0.1:${local.port}/`, destPath: 'a.bin' }
    expect((await call('core/http.downloadFile', download, { signal: stop.signal })).status).toBe('aborted')
    expect(await isCutOff).toBe(false)
    expect(['a.txt', 'a.bin'].map((name) => existsSync(join(root, name)))).toEqual([false, false])
  })

  it('results are a text with details, an image after its MEDIA line, or pretty JSON', async () => {
    const image = png(800, 600)
    const { hub, root, read } = realHub({}, { 'image.png': image })
    const text = 'x'.repeat(1234)
    const file = join(root, 'file')
    const written = await createWriteTool(hub).execute('call-1', { file_path: file, content: text })
    expect(read('file')).toBe(text)
    expect(written).toMatchObject({ content: [{ type: 'text' }], details: { size: 1234 } })
    expect(resolve(root, (written.details as { path: string }).path)).toBe(file)
    for (const path of ['image.png', join(root, 'image.png')]) {
      const shown = await createReadTool(hub).execute('call-2', { file_path: path })
      expect(shown.content).toEqual([
        { type: 'text', text: `MEDIA:${path}` },
        { type: 'image', data: image.toString('base64'), mimeType: 'image/png' },
      ])
      expect(shown.details).toMatchObject({ path, width: 800, height: 600 })
    }
    const payload = { status: 'ok', items: [1, { deep: null }] }
    expect(jsonResult(payload)).toEqual({
      content: [{ type: 'text', text: JSON.stringify(payload, null, 2) }],
      details: payload,
    })
  })

  it('a plugin registers a tool by api.registerTool, from code and from the config', async () => {
    const plugin: Plugin = {
      name: 'custom',
      setup(api) {
        api.registerTool({
          name: 'my_tool',
          description: 'Custom tool',
          parameters: Type.Object({
            input: Type.String(),
          }),
          async execute(_toolCallId, _params) {
            return jsonResult({ result: 'ok' })
          },
        })
      },
    }
    // What the tool touches is not declared, so an owner has to allow it.
    const closed = realHub({ plugins: [plugin] })
    expect((await closed.call('my_tool', { input: 'x' })).error?.code).toBe('POLICY_DENIED')
    const { hub } = realHub({ plugins: [plugin], policy: [{ allow: 'my_tool' }] })
    await hub.ready()
    const [tool] = toAgentTools(hub, { names: ['my_tool'] })
    expect(tool).toMatchObject({ name: 'my_tool', description: 'Custom tool' })
    expect(await tool!.execute('call-1', { input: 'x' })).toEqual(jsonResult({ result: 'ok' }))
    expect((await tool!.execute('call-2', { input: 7 })).details).toMatchObject({ status: 'error', tool: 'my_tool' })

    const folder = temporaryFolder('plugin')
    writeFileSync(join(folder, 'tool-hub.yaml'), 'plugins: [./plugin.mjs]\npolicy:\n  - { allow: my_tool }\n')
    writeFileSync(join(folder, 'plugin.mjs'), PLUGIN)
    const { child, ended } = startCli(folder, ['call', 'my_tool', '{"input":"x"}', '--json'])
    child.stdin.end()
    const { code, stdout } = await ended
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { ok: true, tool: 'my_tool', data: jsonResult({ result: 'ok' }) },
    ])
  })
})

const PLUGIN = `import { Type } from '${import.meta.resolve('@sinclair/typebox')}'
import { jsonResult } from '${pathToFileURL(resolve('packages/tool-hub/dist/index.js'))}'

export default {
  name: 'custom',
  setup(api) {
    api.registerTool({
      name: 'my_tool',
      description: 'Custom tool',
      parameters: Type.Object({
        input: Type.String()
      }),
      async execute(toolCallId, params) {
        return jsonResult({ result: 'ok' });
      }
    });
  },
}
`
