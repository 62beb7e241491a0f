import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
/** How long the pipes of a command that has ended may be silent before they count as closed. */
const GRACE_MS = 100

/** The hub's ends of a command's standard streams. */
export interface CommandStreams {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
}

/** The hub's ends of a command's pipes: bare descriptors until the command runs, so that nothing is read before. */
export class PipeEnds {
  readonly #fds: readonly [number, number, number]

  /** Opens them. This never blocks: the pipes exist, and their other ends are open. */
  constructor([stdin, stdout, stderr]: readonly string[]) {
    const opened: number[] = []
    try {
      opened.push(openSync(stdin!, O_WRONLY | O_NONBLOCK))
      opened.push(openSync(stdout!, O_RDONLY | O_NONBLOCK))
      opened.push(openSync(stderr!, O_RDONLY | O_NONBLOCK))
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      throw error
    }
    this.#fds = opened as [number, number, number]
  }

  /** Turns them into streams, which then own the descriptors. */
  toStreams(): CommandStreams {
    const [stdin, stdout, stderr] = this.#fds
    const input = new Socket({ fd: stdin, readable: false, writable: true })
    // A command may close its input before it has read everything; the writer gets the error in its callback.
    input.on('error', () => {})
    return { stdin: input, stdout: readEnd(stdout), stderr: readEnd(stderr) }
  }

  /** What was written to standard error so far, at most a few lines. */
  errors(): string {
    try {
      const bytes = Buffer.alloc(4096)
      return bytes.toString('utf8', 0, readSync(this.#fds[2], bytes))
    } catch {
      // Nothing was written.
      return ''
    }
  }

  /** Closes descriptors that never became streams. */
  close(): void {
    for (const fd of this.#fds) closeSync(fd)
  }
}

/**
 * Ends a stream whose command has ended, once it is silent: a process elsewhere may have received the other end and
 * hold it forever. Data that is on its way is read first, however slow the reader is.
 */
export function endWhenSilent(stream: Readable): void {
  const socket = stream as Socket
  let seen = -1
  const look = () => {
    if (socket.destroyed || socket.readableEnded) return
    const isSilent = socket.bytesRead === seen && socket.readableLength === 0
    if (isSilent) {
      socket.push(null)
      return
    }
    seen = socket.bytesRead
    // After a long pause of this process the timer is due before the data is read; this restores the order.
    setTimeout(() => setImmediate(look), GRACE_MS).unref()
  }
  look()
}

function readEnd(fd: number): Socket {
  return new OutputSocket({ fd, readable: true, writable: false })
}

/**
 * A socket whose buffers are garbage-collected in time. Each buffer takes 64 KB outside of the heap and a few bytes
 * inside, so the young space is only full, and collected, after 100 MB and more. Allocating some garbage per buffer
 * brings that forward: in a fresh process, 100 MB of output raise the memory by 20 MB instead of 40. In a process whose
 * young space has already grown, it changes little.
 */
class OutputSocket extends Socket {
  garbage: readonly number[] = []

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    this.garbage = new Array<number>(512).fill(0)
    return super.push(chunk, encoding)
  }
}
