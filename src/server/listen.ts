import type { Server } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { ToolError } from '../core/index.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether only this machine answers to a name or address, which may stand in brackets as in a URL. */
export function isLoopback(name: string): boolean {
  if (name === 'localhost') return true
  const address = name.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

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
