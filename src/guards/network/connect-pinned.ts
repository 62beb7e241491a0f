import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { ToolError } from '../../errors.ts'
import { canonicalAddress } from './judge-address.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Opens a connection to an address that was judged; tests replace it to stay on the machine. */
export type Dial = (address: string, port: number) => Socket

/** A connection that never came to be: nothing was sent, so another address may be tried. */
export class ConnectError extends Error {}

/** A connector for undici that only ever reaches one address, whatever name it is asked for. */
export function connectPinned(
  address: string,
  dial: Dial | undefined,
  ca: string | undefined,
): buildConnector.connector {
  return ({ protocol, hostname, port }, callback) => {
    const isSecure = protocol === 'https:'
    const tcp = (dial ?? dialAddress)(address, Number(port || (isSecure ? 443 : 80)))
    const socket = isSecure
      ? connectTls({
          socket: tcp,
          host: hostname,
          servername: isIP(hostname) > 0 ? undefined : hostname,
          ALPNProtocols: ['http/1.1'],
          // Said, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment does not matter.
          rejectUnauthorized: true,
          ca,
        })
      : tcp

    let isSettled = false
    const settle = (error: Error | undefined) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      if (!error) return callback(null, socket)
      socket.destroy()
      tcp.destroy()
      callback(ToolError.is(error) ? error : new ConnectError(error.message, { cause: error }), null)
    }
    const timer = setTimeout(settle, CONNECT_TIMEOUT_MS, new Error(`no connection in ${CONNECT_TIMEOUT_MS} ms`))
    // These listeners stay: an error of a socket that nobody listens to would end the process.
    for (const each of new Set([tcp, socket])) each.on('error', settle)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => settle(dial ? undefined : refuseStranger(tcp, address)))
  }
}

/** Compares where a socket really ended with the address that was judged. */
export function refuseStranger(
  { remoteAddress }: Pick<Socket, 'remoteAddress'>,
  address: string,
): ToolError | undefined {
  if (remoteAddress !== undefined && canonicalAddress(remoteAddress) === address) return undefined
  return new ToolError(
    'HTTP_DISALLOWED_HOST',
    `The connection reached ${remoteAddress}, not the judged address ${address}.`,
  )
}

function dialAddress(address: string, port: number): Socket {
  return connectTcp({ host: address, port, noDelay: true, keepAlive: true })
}
