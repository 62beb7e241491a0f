import type { Socket } from 'node:net'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { ConnectError, type ConnectOptions, connectPinned } from '../connect-pinned.ts'
import type { HostResolver } from '../host-resolver.ts'
import { toNetworkError } from '../network-error.ts'

/** What of a guard the proxy uses, so that both judge alike. */
export interface Road {
  /** The normal form of a URL; throws when its spelling or port may not be used. */
  judge(text: string): URL
  /** Throws when the host is not one the owner allows. */
  admit(url: URL): void
  readonly hosts: HostResolver
  readonly connect: ConnectOptions
}

/** A plain connection to an address that was judged. */
export interface Reached {
  readonly socket: Socket
  readonly address: string
  readonly port: number
}

/** Connects to the host of an admitted URL: every address of its name is judged, and the first that answers is used. */
export async function reach({ hosts, connect }: Road, url: URL, signal: AbortSignal): Promise<Reached> {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const { addresses } = hosts.literal(url.hostname) ?? (await unlessStopped(hosts.ask(url.hostname), signal))
  let failure: unknown
  for (const address of addresses) {
    throwIfAborted(signal)
    try {
      return { socket: await dial(address, port, connect, signal), address, port }
    } catch (error) {
      failure = error
      if (!(error instanceof ConnectError)) break
    }
  }
  throwIfAborted(signal)
  throw toNetworkError(failure, url)
}

function dial(address: string, port: number, options: ConnectOptions, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let giveUp: (() => void) | undefined
    const stop = () => giveUp?.()
    signal.addEventListener('abort', stop, { once: true })
    const connector = connectPinned(address, options, (how) => {
      giveUp = how
    })
    // `http:` means that the guard adds no TLS: that is between the client and the server.
    connector({ protocol: 'http:', hostname: address, port: String(port) }, (error, socket) => {
      signal.removeEventListener('abort', stop)
      if (error) reject(error)
      else resolve(socket)
    })
  })
}

/** Waits for something that cannot be stopped, unless the visit is over before. */
function unlessStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
