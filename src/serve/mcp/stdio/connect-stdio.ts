import process from 'node:process'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { connectServer } from '../make-server.ts'
import { McpService } from '../mcp-service.ts'
import type { McpStdioOptions, ServedHub } from '../options.ts'
import type { McpStdioServer } from '../serve-mcp-stdio.ts'
import { LineTransport } from './line-transport.ts'
import { ownStdout } from './own-stdout.ts'
import { QuickCalls } from './quick-calls.ts'

const MOST_MESSAGE_BYTES = 4 * 1024 * 1024

/** Connects a hub to a client on standard input and output: one session, with its run, until the client is gone. */
export function connectStdio(hub: ServedHub, options: McpStdioOptions): McpStdioServer {
  const service = new McpService(hub, options)
  const session = service.openSession()
  const own = options.stdout ? undefined : ownStdout()
  const { stdin = process.stdin, stdout } = options
  const transport = new LineTransport({
    input: stdin,
    write: own?.write ?? ((line, done) => void stdout?.write(line, done)),
    maxBytes: MOST_MESSAGE_BYTES,
  })
  let quick: QuickCalls | undefined
  const handle = serveStdio(
    ({ era }) => {
      const connection = connectServer(session, era)
      const { server } = connection
      // Extras may have their own say in how calls are answered.
      if (era === 'legacy' && !options.extras) {
        const calls = new QuickCalls(
          connection,
          (message) => void transport.send(message as never).catch(service.report),
        )
        transport.take = (message) => calls.take(message)
        quick = calls
      }
      server.onclose = service.connected(server)
      return server
    },
    { transport, onerror: service.report },
  )
  const closed = new Promise<void>((resolve, reject) => {
    const closeServers = transport.onclose
    transport.onclose = () => {
      closeServers?.()
      quick?.close()
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
