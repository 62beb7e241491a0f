import type { Socket } from 'node:net'

/** Carries bytes both ways until both sides have ended, or one breaks, or neither says anything for too long. */
export function joinSockets(near: Socket, far: Socket, idleMs: number, count: (bytes: number) => void): void {
  const stop = () => {
    near.destroy()
    far.destroy()
  }
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    // One side may have said all it has to say while the other still answers.
    from.allowHalfOpen = true
    from.setTimeout(idleMs, stop)
    from.on('data', ({ length }) => count(length))
    from.on('error', stop)
    from.on('close', () => from.readableEnded || to.destroy())
    from.pipe(to)
  }
}
