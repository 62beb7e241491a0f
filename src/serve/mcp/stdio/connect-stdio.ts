import process from 'node:process'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Hub } from '../../../hub.ts'
import { makeServer } from '../make-server.ts'
import { McpService } from '../mcp-service.ts'
import type { McpStdioOptions } from '../options.ts'
import type { McpStdioServer } from '../serve-mcp-stdio.ts'
import { ownStdout } from './own-stdout.ts'

const MOST_MESSAGE_BYTES = 4 * 1024 * 1024

/** Connects a hub to a client on standard input and output: one session, with its run, until the client is gone. */
export function connectStdio(hub: Hub, options: McpStdioOptions): McpStdioServer {
  const service = new McpService(hub, options)
  const session = service.openSession()
  const own = options.stdout ? undefined : ownStdout()
  const transport = new StdioServerTransport(options.stdin ?? process.stdin, options.stdout ?? own?.stream, {
    maxBufferSize: MOST_MESSAGE_BYTES,
  })
  const handle = serveStdio(
    ({ era }) => {
      const server = makeServer(session, era)
      server.onclose = service.connected(server)
      return server
    },
    { transport, onerror: service.report },
  )
  const closed = new Promise<void>((resolve, reject) => {
    const closeServers = transport.onclose
    transport.onclose = () => {
      closeServers?.()
      service.close()
      session
        .end()
        .finally(() => own?.release())
        .then(resolve, reject)
    }
  })
  // Whoever waits for it hears of a failure; nobody has to.
  closed.catch(() => {})
  return {
    closed,
    async close() {
      await handle.close()
      await closed
    },
  }
}
