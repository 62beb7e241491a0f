import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { ToolError } from '../../errors.ts'
import { canonicalAddress } from './judge-address.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Opens a connection to an address that was judged; tests replace it to stay on the machine. */
export type Dial = (address: string, port: number) => Socket

/** How connections are made. */
export interface ConnectOptions {
  /** Opens the connection, for tests. Default: a TCP or TLS connection. */
  readonly dial?: Dial
  /** Certificate authorities (PEM) to trust instead of the system's. */
  readonly ca?: string
}

/** A connection that never came to be: nothing was sent, so another address may be tried. */
export class ConnectError extends Error {}

/**
 * A connector for undici that only ever reaches one address, whatever name it is asked for. undici cannot stop a
 * connection that is being made, so `hold` gets the way to give it up, and undefined once it is made or failed.
 */
export function connectPinned(
  address: string,
  { dial, ca }: ConnectOptions,
  hold: (giveUp: (() => void) | undefined) => void,
): buildConnector.connector {
  return ({ protocol, hostname, port }, callback) => {
    const isSecure = protocol === 'https:'
    const tcp = (dial ?? dialAddress)(address, Number(port || (isSecure ? 443 : 80)))
    const socket = isSecure ? secure(tcp, hostname, ca) : tcp

    let isSettled = false
    const settle = (error: Error | undefined) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      hold(undefined)
      if (!error) return callback(null, socket)
      socket.destroy()
      tcp.destroy()
      callback(ToolError.is(error) ? error : new ConnectError(error.message, { cause: error }), null)
    }
    const timer = setTimeout(settle, CONNECT_TIMEOUT_MS, new Error(`no connection in ${CONNECT_TIMEOUT_MS} ms`))
    hold(() => settle(new Error('given up')))
    // These listeners stay: an error of a socket that nobody listens to would end the process.
    for (const each of new Set([tcp, socket])) each.on('error', settle)
    // A server that hangs up in the middle of the handshake says nothing else.
    socket.once('close', () => settle(new Error('the connection was closed while it was made')))
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

function secure(socket: Socket, hostname: string, ca: string | undefined) {
  return connectTls({
    socket,
    host: hostname,
    servername: isIP(hostname) > 0 ? undefined : hostname,
    ALPNProtocols: ['http/1.1'],
    // Said, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment does not matter.
    rejectUnauthorized: true,
    ca,
  })
}

function dialAddress(address: string, port: number): Socket {
  return connectTcp({ host: address, port, noDelay: true, keepAlive: true })
}
