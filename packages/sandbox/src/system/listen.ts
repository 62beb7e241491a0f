import type { Server } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { descriptorLimit } from './processes.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether a host name or address, also in brackets as in a URL, is loopback. */
export function isLoopback(name: string): boolean {
  if (name === 'localhost') return true
  const address = name.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

const LISTEN = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i

/** The host and port of `10.0.0.7:4041` or `[2001:db8::7]:4041`; `undefined` if the text is not an address and a port. */
export function parseListen(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, host = '', digits = ''] = LISTEN.exec(text) ?? []
  const port = Number(digits)
  return host === '' || port > 65_535 ? undefined : { host: host.replace(/^\[(.*)\]$/, '$1'), port }
}

/** Resolves when the server listens; rejects with CONFIG_INVALID if it cannot. */
export function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      const hint = LISTEN_HINTS.get(errnoOf(cause)) ?? 'Use another address or port.'
      reject(new ToolError('CONFIG_INVALID', `Cannot listen on ${host}:${port}: ${cause.message}.`, { hint, cause }))
    }
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

const IDLE_CHECK_MS = 50

/** Takes no more requests, lets those in progress end for `graceMs`, then closes all connections, upgraded ones too. */
export async function closeServer(
  server: Server,
  { graceMs, upgraded }: { readonly graceMs: number; readonly upgraded: ReadonlySet<Duplex> },
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // Connections that become idle would stay open for further requests.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  let cut: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    cut = setTimeout(resolve, graceMs)
  })
  await Promise.race([closed, over])
  clearInterval(idleCheck)
  clearTimeout(cut)
  server.closeAllConnections()
  for (const socket of upgraded) socket.destroy()
  await closed
}
const LISTEN_HINTS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'Another program listens there: end it, or use another port.'],
  ['EADDRNOTAVAIL', 'Use an address of this machine, or 0.0.0.0 for all of them.'],
  ['EACCES', 'This user may not use the port: take one above 1023.'],
])

/** With fewer descriptors, records, store and commands would fail. */
const MIN_DESCRIPTORS = 256
/** Descriptors reserved for records, store, files and commands. */
const RESERVED_DESCRIPTORS = 128
const MAX_CONNECTIONS = 10_000

/**
 * How many connections the service takes at a time, WebSockets and event streams included: half of the descriptors that
 * the process may open, so that connections alone never exhaust them. Throws CONFIG_INVALID if there are too few.
 */
export function connectionLimit(wanted?: number, descriptors = descriptorLimit()): number {
  if (descriptors < MIN_DESCRIPTORS) {
    throw new ToolError(
      'CONFIG_INVALID',
      `This process may open ${descriptors} files and connections; the service needs at least ${MIN_DESCRIPTORS}.`,
      { hint: RAISE },
    )
  }
  const most = descriptors - RESERVED_DESCRIPTORS
  if (wanted !== undefined && wanted > most) {
    throw new ToolError(
      'CONFIG_INVALID',
      `service.maxConnections is ${wanted}, but this process may open ${descriptors} files and connections, of which ${RESERVED_DESCRIPTORS} are reserved.`,
      { fix: { key: 'service.maxConnections', hint: `Set it to at most ${most}, or raise the limit. ${RAISE}` } },
    )
  }
  return wanted ?? Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 2))
}

const RAISE = 'Raise the limit before it starts: ulimit -n 4096 in the shell, LimitNOFILE=4096 in a systemd unit.'
