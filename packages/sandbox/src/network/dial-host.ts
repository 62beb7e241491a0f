import type { Socket } from 'node:net'
import { type DialWish, messageOf, resourceError, ToolError } from '@tool-hub/core'
import { HostResolver, parseRanges, spelledOut } from './judge-destination.ts'
import { dialPinned } from './request/pinned-connections.ts'
import type { WebFetchGuard } from './web-fetch.ts'

// A name or an address, and nothing that a URL parser or a resolver would interpret differently.
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:.]*:[0-9a-f:.]*)$/i

/** Connects to a host that the owner named: every address of it is checked, and only a checked address is dialled. */
export async function dialHost({ host, port, signal }: DialWish, guard: WebFetchGuard): Promise<Socket> {
  if (!HOST.test(host) || !Number.isInteger(port) || port < 1 || port > 65_535) throw notAHost(host, port)
  const { privateRanges, blockedRanges, resolve } = guard
  const hosts = new HostResolver(resolve, parseRanges([...privateRanges, ...spelledOut(host)], blockedRanges))
  const { addresses } = hosts.literal(host) ?? (await hosts.ask(host))
  let failure: unknown
  for (const address of addresses) {
    signal.throwIfAborted()
    try {
      return await dialPinned(address, port, guard, signal)
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

function notAHost(host: string, port: number): ToolError {
  return new ToolError('CONFIG_INVALID', `${JSON.stringify(`${host}:${port}`)} is not a host and a port.`, {
    hint: 'Write a name or an address, and a port from 1 to 65535.',
  })
}
