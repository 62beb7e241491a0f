import { once } from 'node:events'
import { WebSocket } from 'ws'
import { within } from './within.mjs'

const CALL_MS = 60_000

/** A session over `/v1/ws`. */
export class WsClient {
  #socket
  #waiting = new Map()
  #next = 0
  /** How it ended, once it has. */
  closed
  /** Hears events that were asked for by `watch`. */
  onEvent = () => {}

  static async connect(url, token) {
    const socket = new WebSocket(new URL('/v1/ws', url.replace('http', 'ws')), {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    })
    const client = new WsClient(socket)
    await within(30_000, 'a WebSocket', once(socket, 'open'))
    const welcomed = new Promise((resolve) => client.#waiting.set('hello', resolve))
    client.#say({ type: 'hello' })
    await within(30_000, 'a welcome', welcomed)
    return client
  }

  constructor(socket) {
    this.#socket = socket
    socket.on('message', (data) => this.#hear(JSON.parse(data)))
    socket.on('error', () => {})
    socket.on('close', (code) => {
      this.closed = code
      for (const settle of this.#waiting.values()) settle({ lost: code })
      this.#waiting.clear()
    })
  }

  /** The result of a call; `{ lost }` when the connection went before. */
  call(tool, input) {
    const id = `call-${this.#next++}`
    const settled = new Promise((resolve) => this.#waiting.set(id, resolve))
    this.#say({ type: 'call', id, tool, input })
    return within(CALL_MS, `${tool} over a WebSocket`, settled)
  }

  approve(approval, reply) {
    const id = `approve-${this.#next++}`
    const settled = new Promise((resolve) => this.#waiting.set(id, resolve))
    this.#say({ type: 'approve', id, approval, reply })
    return within(CALL_MS, 'an answer over a WebSocket', settled)
  }

  watch(events) {
    this.#say({ type: 'watch', events })
  }

  /** Reads nothing more. */
  pause() {
    this.#socket.pause()
  }

  close() {
    this.#socket.close(1000)
  }

  terminate() {
    this.#socket.terminate()
  }

  #say(message) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #hear(message) {
    if (message.seq !== undefined) this.#say({ type: 'received', seq: message.seq })
    if (message.type === 'event') return this.onEvent(message.event)
    if (message.type === 'welcome') return this.#settle('hello', message)
    if (message.id !== undefined) this.#settle(message.id, message)
  }

  #settle(id, message) {
    this.#waiting.get(id)?.(message)
    this.#waiting.delete(id)
  }
}
