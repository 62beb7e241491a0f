import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { callerGone } from '../../../core/index.ts'

const SIGNALS = new WeakMap<Socket, AbortSignal>()

/** Aborts when the connection is gone. One for all requests of a connection: making one costs as much as a call. */
export function socketSignal(socket: Socket): AbortSignal {
  const known = SIGNALS.get(socket)
  if (known) return known
  const gone = new AbortController()
  const abort = () => gone.abort(callerGone('The client closed the connection.'))
  if (socket.destroyed) abort()
  else socket.once('close', abort)
  // A client may pipeline as many requests as it likes.
  setMaxListeners(0, gone.signal)
  SIGNALS.set(socket, gone.signal)
  return gone.signal
}
