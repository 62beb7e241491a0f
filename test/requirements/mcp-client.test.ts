import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMcpSource } from '../../packages/library/src/index.ts'
import { eventually } from '../support/eventually.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const packages = new URL('../../node_modules/@modelcontextprotocol/', import.meta.url)
const entry = (name: string) => fileURLToPath(new URL(`${name}/dist/index.js`, packages))
const noteOwnPid = new URL('../support/note-own-pid.mjs', import.meta.url).href
const policy = [{ allow: 'remote' }]

/** An MCP server of the SDK that speaks SSE; returns its address. */
async function serveSse(): Promise<string> {
  let transport: SSEServerTransport
  const web = createServer(async (request, response) => {
    if (request.method === 'POST') return transport.handlePostMessage(request, response)
    transport = new SSEServerTransport('/messages', response)
    const server = new McpServer({ name: 'clock', version: '1' })
    server.registerTool('noon', {}, () => ({ content: [{ type: 'text', text: '12:00' }] }))
    await server.connect(transport)
  }).listen(0, '127.0.0.1')
  await once(web, 'listening')
  onTestFinished(() => {
    web.closeAllConnections()
    web.close()
  })
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}/sse`
}

describe('the MCP client of a tool module', () => {
  it('it lists and calls the tools of real servers, over stdio and SSE', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'note.txt'), 'hello')
    const source = createMcpSource({
      files: { command: process.execPath, args: [entry('server-filesystem'), folder] },
      clock: { type: 'sse', url: await serveSse(), oauth: false },
    })
    const { hub, text, call } = realHub({ policy, sources: [source], sandbox: LOOPBACK })
    await hub.ready({ all: true })
    expect(source.status().map(({ name, state }) => [name, state])).toEqual([
      ['files', 'connected'],
      ['clock', 'connected'],
    ])
    const shown = hub.registry.listForLLM().find(({ name }) => name === 'mcp_files_read_text_file')
    expect(shown?.parameters).toMatchObject({ properties: { path: { type: 'string' } }, required: ['path'] })
    expect(await text('mcp/files.read_text_file', { path: join(folder, 'note.txt') })).toBe('hello')
    expect(await text('mcp_clock_noon', {})).toBe('12:00')
    expect((await call('mcp/files.read_text_file', {})).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await call('mcp/files.read_text_file', { path: '/etc/passwd' })).ok).toBe(false)
  })

  it('a server is started by the hub, started again after it was killed, and ended with the hub', async () => {
    const pidFile = join(temporaryFolder(), 'pids')
    const pids = () => readFileSync(pidFile, 'utf8').trim().split('\n').map(Number)
    const { hub, text, call } = realHub({
      policy,
      mcpServers: {
        every: {
          command: process.execPath,
          args: ['--import', noteOwnPid, entry('server-everything'), 'stdio'],
          env: { PID_FILE: pidFile },
        },
      },
    })
    await hub.ready({ all: true })
    expect(await text('mcp/every.echo', { message: 'first' })).toBe('Echo: first')
    const [first] = pids()
    const killed = await call(
      'mcp/every.trigger-long-running-operation',
      { duration: 600, steps: 60_000 },
      {
        onEvent: ({ type }) => void (type === 'call-progressed' && isAlive(first!) && process.kill(first!, 'SIGKILL')),
      },
    )
    expect(killed.error).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: true })
    // No call is needed for that.
    await eventually(() => expect(pids()).toHaveLength(2))
    expect(await text('mcp/every.echo', { message: 'again' })).toBe('Echo: again')
    expect(pids()).toHaveLength(2)
    expect(pids()[1]).not.toBe(first)
    await hub.close()
    await eventually(() => expect(pids().filter(isAlive)).toEqual([]))
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
