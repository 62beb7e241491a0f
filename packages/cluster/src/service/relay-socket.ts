import type { IncomingMessage } from 'node:http'
import type { Clock } from '@tool-hub/core'
import { WebSocket } from 'ws'
import type { RelayedSocket } from './call-router.ts'

const HANDSHAKE_MS = 3_000
/** How many bytes one side may lag behind before reading from the other one pauses. */
const MAX_BUFFERED = 1024 * 1024
/** A connection on which three pings are not answered is dead. */
const PING_MS = 7_500
const MAX_PINGS = 3
/** The process of the session has ended; the client connects again. */
const RESTARTED = 1012

/** Connects to the process that has the session, and passes messages on in both directions until one side closes. */
export async function relaySocket(
  { client, hello, early, maxBytes }: Omit<RelayedSocket, 'identity'>,
  there: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly isSigned: (answer: IncomingMessage) => boolean
    readonly clock: Clock
  },
): Promise<void> {
  const peer = new WebSocket(there.url, ['tool-hub.v1'], {
    headers: there.headers,
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    followRedirects: false,
  })
  await new Promise<void>((resolve, reject) => {
    peer.once('upgrade', (answer) => {
      if (!there.isSigned(answer))
        peer.emit('error', new Error('What answers there does not have the key of the cluster.'))
    })
    peer.once('error', (error) => {
      peer.on('error', () => {})
      peer.terminate()
      reject(error)
    })
    peer.once('open', resolve)
  })
  peer.on('error', () => {})
  for (const text of [hello, ...early]) peer.send(text)
  pass(client, peer)
  pass(peer, client)
  pingUntilClosed(peer, there.clock)
  client.once('close', (code, reason) => closeWith(peer, code, reason))
  peer.once('close', (code, reason) => closeWith(client, code === 1006 ? RESTARTED : code, reason))
  if (client.readyState !== WebSocket.OPEN) peer.terminate()
}

/** Passes messages on as fast as the other side reads. */
function pass(from: WebSocket, to: WebSocket): void {
  from.on('message', (data, isBinary) => {
    if (to.readyState !== WebSocket.OPEN) return
    to.send(data, { binary: isBinary }, () => {
      if (from.isPaused && to.bufferedAmount <= MAX_BUFFERED) from.resume()
    })
    if (to.bufferedAmount > MAX_BUFFERED) from.pause()
  })
}

/** Ends the connection if the other machine cannot be reached any more, which nothing else would report for minutes. */
function pingUntilClosed(peer: WebSocket, clock: Clock): void {
  let unanswered = 0
  let cancel = () => {}
  const heard = () => {
    unanswered = 0
  }
  const ping = () => {
    // Nothing is read while the client lags behind.
    if (peer.isPaused) heard()
    if (unanswered >= MAX_PINGS) return peer.terminate()
    unanswered++
    peer.ping()
    cancel = clock.after(PING_MS, ping, { background: true })
  }
  peer.on('pong', heard).on('message', heard)
  peer.once('close', () => cancel())
  if (peer.readyState === WebSocket.OPEN) ping()
}

/** Codes that stand for a missing close frame cannot be sent: the connection is dropped, as the other one was. */
function closeWith(socket: WebSocket, code: number, reason: Buffer): void {
  if (code === 1005) socket.close()
  else if (code === 1006 || code === 1015) socket.terminate()
  else socket.close(code, reason)
}
