import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection between two machines, which a test cuts. */
export interface Wire {
  readonly url: string
  /** While true, no byte gets through, and no connection ends. */
  isCut: boolean
  /** Whether the connection with the next bytes loses them, and everything after. */
  losesNext: boolean
  /** From now on no byte gets through the connections that are open. */
  cutOpen(): void
  close(): void
}

/** Starts a proxy to a port of this machine. */
export async function startWire(port: number): Promise<Wire> {
  const sockets = new Set<Socket>()
  const dead = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        const isLost = wireState.isCut || wireState.losesNext
        wireState.losesNext = false
        // What was lost is missing for good.
        if (isLost) dead.add(near).add(far)
        if (!dead.has(from)) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        if (!wireState.isCut && !dead.has(from)) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wireState: Wire = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isCut: false,
    losesNext: false,
    cutOpen() {
      for (const socket of sockets) dead.add(socket)
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return wireState
}
