import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach } from 'vitest'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { type McpHttpServer, serveMcp } from '../../packages/server/src/mcp/index.ts'
import type { McpHttpOptions } from '../../packages/server/src/mcp/options.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'

/** What a client says to a form. */
export type FormReply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | number | boolean> }

/** Gives every test of a file hubs that are served over HTTP on loopback, and clients of both eras that are closed after it. */
export function useServedHubs() {
  let closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.reverse()) await close()
    closers = []
  })
  const serve = async (
    options: HubOptions,
    serving: McpHttpOptions = {},
  ): Promise<{ hub: TestHub; url: URL; server: McpHttpServer }> => {
    const hub = testHub(options) as TestHub
    const server = await serveMcp(hub, { graceMs: 0, ...serving })
    closers.push(
      () => hub.close({ abort: true }),
      () => server.close(),
    )
    return { hub, server, url: new URL(server.url) }
  }
  /** A client of either era; with `onForm` it can show forms. */
  const connect = async (
    url: URL,
    era: 'legacy' | 'modern',
    {
      onForm,
      name = 'test-client',
      headers = {},
      ...options
    }: ClientOptions & {
      onForm?: (message: string, params: object) => FormReply | Promise<FormReply>
      name?: string
      headers?: Record<string, string>
    } = {},
  ): Promise<Client> => {
    const client = new Client(
      { name, version: '1.0.0' },
      {
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
        ...options,
        capabilities: { ...options.capabilities, ...(onForm && { elicitation: { form: {} } }) },
      },
    )
    if (onForm) client.setRequestHandler('elicitation/create', ({ params }) => onForm(params.message, params))
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    closers.push(() => client.close())
    return client
  }
  /** A client of the SDK's first version. */
  const connectFirst = async (url: URL): Promise<FirstClient> => {
    const client = new FirstClient({ name: 'first-client', version: '1.0.0' }, { capabilities: {} })
    await client.connect(new FirstTransport(url))
    closers.push(() => client.close())
    return client
  }
  return { serve, connect, connectFirst }
}
