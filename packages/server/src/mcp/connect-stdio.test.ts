import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client, type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { type AnyTool, defineTool } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { McpStdioOptions } from './options.ts'
import { serveMcpStdio } from './serve.ts'

const whoami = defineTool({
  name: 'whoami',
  description: 'Says which run this is.',
  input: z.strictObject({}),
  output: z.strictObject({ run: z.string() }),
  execute: (_, ctx) => ({ run: ctx.run }),
})

let closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

/** A client at the other end of two pipes. */
class PipeTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly stdin = new PassThrough()
  readonly stdout = new PassThrough()
  readonly #buffer = new ReadBuffer()

  async start() {
    this.stdout.on('data', (chunk: Buffer) => {
      this.#buffer.append(chunk)
      for (let message = this.#buffer.readMessage(); message; message = this.#buffer.readMessage())
        this.onmessage?.(message)
    })
  }
  async send(message: JSONRPCMessage) {
    this.stdin.write(serializeMessage(message))
  }
  async close() {
    this.stdin.end()
    this.onclose?.()
  }
}

async function connect(hub: TestHub, mode: 'legacy' | 'auto' | { pin: string }, options: McpStdioOptions = {}) {
  const transport = new PipeTransport()
  const server = await serveMcpStdio(hub, { ...options, stdin: transport.stdin, stdout: transport.stdout })
  const client = new Client(
    { name: 'piped', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { answer: 'fine' } }))
  await client.connect(transport)
  closers.push(() => client.close())
  return { client, server }
}

function hubWith(...tools: AnyTool[]): TestHub {
  const hub = testHub({ tools }) as TestHub
  closers.push(() => hub.close({ abort: true }))
  return hub
}

describe.each([['legacy'], ['auto'], [{ pin: '2026-07-28' }]] as const)('over stdio, a client in mode %o', (mode) => {
  it('lists, calls and is asked, in one run', async () => {
    const asks = defineTool({
      name: 'asks',
      description: 'Asks.',
      input: z.strictObject({}),
      execute: async (_, ctx) => (await ctx.ask({ question: 'Well?' })).answer,
    })
    const { client } = await connect(hubWith(whoami, asks), mode)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('whoami')
    const first = await client.callTool({ name: 'whoami', arguments: {} })
    expect((await client.callTool({ name: 'whoami', arguments: {} })).structuredContent).toEqual(
      first.structuredContent,
    )
    expect((await client.callTool({ name: 'asks', arguments: {} })).content).toMatchObject([{ text: 'fine' }])
  })

  it('stops its calls when it is gone, and its run is closed', async () => {
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const endless = defineTool({
      name: 'endless',
      description: 'Never ends.',
      input: z.strictObject({}),
      execute: (_, { signal }) =>
        new Promise<string>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          begin()
        }),
    })
    const hub = hubWith(endless)
    const ended = new Promise<string>((resolve) => {
      hub.onEvent((event) => event.type === 'call-ended' && resolve(event.result.status))
    })
    const { client, server } = await connect(hub, mode)
    client.callTool({ name: 'endless', arguments: {} }).catch(() => {})
    await begun
    await client.close()
    expect(await ended).toBe('aborted')
    await server.closed
  })

  it('is answered before it gives up on an approval, which stays when the client is gone', async () => {
    const [clock, store] = [fakeClock(), createMemoryStore()]
    const waiting = async () => (await store.approvals.list({ state: 'waiting' })).map(({ id }) => id)
    const policy = [{ ask: 'whoami' }]
    const hub = testHub({ tools: [whoami], store, policy, approve: undefined, approvals: { inbox: true } }) as TestHub
    closers.push(() => hub.close({ abort: true }))
    const { client, server } = await connect(hub, mode, { clock, elicitation: false })
    const call = { name: 'whoami', arguments: {} }
    const first = client.callTool(call)
    await expect.poll(waiting).toHaveLength(1)
    const [id] = await waiting()
    await clock.advance(45_000)
    expect(JSON.stringify(await first)).toMatch(
      /APPROVAL_UNAVAILABLE: whoami waits for an approval .* Repeat the same call/,
    )
    client.callTool(call).catch(() => {})
    await expect.poll(() => hub.approvals.list()).toHaveLength(1)
    await client.close()
    await server.closed
    expect(await waiting()).toEqual([id])
  })
})

describe('the process that serves', () => {
  it('writes nothing but MCP to stdout, no matter who prints', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tool-hub-stdio-'))
    closers.push(() => rm(folder, { recursive: true, force: true }))
    const module = await bundleModule('test/support/printing-mcp-server.ts')
    const child = spawn(process.execPath, [module], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
    const [stdout, stderr]: string[][] = [[], []]
    child.stdout.on('data', (chunk) => stdout!.push(String(chunk)))
    child.stderr.on('data', (chunk) => stderr!.push(String(chunk)))
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    const call = { name: 'print', arguments: {} }
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })}\n`)
    while (!stdout!.join('').includes('"id":2')) await once(child.stdout, 'data')
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    const messages = stdout!.join('').trim().split('\n')
    expect(messages.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2])
    expect(stderr!.join('').trim().split('\n')).toEqual(['logged', 'noted', 'traced', 'written'])
  })
})
