import type { Server } from 'node:http'
import { ToolError } from '../core/index.ts'

/** Resolves when a server listens; rejects with why it cannot. */
export function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(new ToolError('CONFIG_INVALID', `Cannot listen on ${host}:${port}: ${cause.message}.`, { cause }))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}
