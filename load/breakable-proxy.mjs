import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Passes connections to a port of this machine, until they are cut. */
export class BreakableProxy {
  #server
  #sockets = new Set()
  #isBlocked = false
  port

  static async open(target) {
    const proxy = new BreakableProxy()
    proxy.#server = createServer((socket) => proxy.#pass(socket, target)).listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    proxy.port = proxy.#server.address().port
    return proxy
  }

  /** Cuts all connections in the middle of whatever they carry. */
  cut() {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Cuts all connections, and new ones until `unblock`. */
  block() {
    this.#isBlocked = true
    this.cut()
  }

  unblock() {
    this.#isBlocked = false
  }

  close() {
    this.block()
    this.#server.close()
  }

  #pass(socket, target) {
    if (this.#isBlocked) return socket.destroy()
    const other = connect(target, '127.0.0.1')
    for (const [each, peer] of [
      [socket, other],
      [other, socket],
    ]) {
      this.#sockets.add(each)
      each.setNoDelay(true)
      each.on('error', () => {})
      each.on('close', () => {
        this.#sockets.delete(each)
        peer.destroy()
      })
      each.pipe(peer)
    }
  }
}
