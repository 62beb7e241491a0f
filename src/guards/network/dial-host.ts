import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { DialWish } from '../../contracts/ability.ts'
import { resourceError } from '../../disk/resource-error.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { refuseStranger } from './connect-pinned.ts'
import { HostResolver } from './host-resolver.ts'
import { parseRanges } from './judge-address.ts'
import { spelledOut } from './spelled-out.ts'
import type { WebFetchGuard } from './web-fetch.ts'

const CONNECT_TIMEOUT_MS = 10_000
// A name or an address, nothing that a URL or a resolver reads in another way.
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:.]*:[0-9a-f:.]*)$/i

/** Connects to a host that the owner named: every address of it is judged, and one that was judged is dialled. */
export async function dialHost({ host, port, signal }: DialWish, guard: WebFetchGuard): Promise<Socket> {
  if (!HOST.test(host) || !Number.isInteger(port) || port < 1 || port > 65_535) throw notAHost(host, port)
  const { privateRanges, blockedRanges, resolve, dial = dialAddress } = guard
  const hosts = new HostResolver(resolve, parseRanges([...privateRanges, ...spelledOut(host)], blockedRanges))
  const { addresses } = hosts.literal(host) ?? (await hosts.ask(host))
  let failure: unknown
  for (const address of addresses) {
    signal.throwIfAborted()
    try {
      return await connected(dial(address, port), guard.dial ? undefined : address, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (ToolError.is(error)) throw error
      failure = error
    }
  }
  const what = `No connection to ${host}:${port}`
  throw (
    resourceError(failure, what) ??
    new ToolError('UPSTREAM_ERROR', `${what}: ${messageOf(failure)}`, { cause: failure })
  )
}

/** The socket once it is connected, and to the address that was judged. */
async function connected(socket: Socket, address: string | undefined, signal: AbortSignal): Promise<Socket> {
  // This listener stays: an error of a socket that nobody listens to would end the process.
  socket.on('error', () => {})
  try {
    const limit = AbortSignal.timeout(CONNECT_TIMEOUT_MS)
    await once(socket, 'connect', { signal: AbortSignal.any([signal, limit]) }).catch((error: unknown) => {
      throw limit.aborted && !signal.aborted ? new Error(`no connection in ${CONNECT_TIMEOUT_MS} ms`) : error
    })
    const stranger = address === undefined ? undefined : refuseStranger(socket, address)
    if (stranger) throw stranger
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function dialAddress(address: string, port: number): Socket {
  return connect({ host: address, port, noDelay: true, keepAlive: true })
}

function notAHost(host: string, port: number): ToolError {
  return new ToolError('CONFIG_INVALID', `${JSON.stringify(`${host}:${port}`)} is not a host and a port.`, {
    hint: 'Write a name or an address, and a port from 1 to 65535.',
  })
}
