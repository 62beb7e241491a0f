import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What takes one request. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** One connection: its answer under way, and the requests that came after. */
interface Line {
  isBusy: boolean
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[]
  readonly next: () => void
}

const MOST_WAITING = 100

/**
 * Answers the requests of a connection one after the other, so that for one who does not read only one answer is made and
 * kept, however many it asks for at once; and cuts off who reads nothing of its answer.
 */
export class AnswerTurns {
  readonly #listener: RequestListener
  readonly #lines = new Map<Socket, Line>()

  constructor(listener: RequestListener) {
    this.#listener = listener
  }

  readonly listener: RequestListener = (request, response) => {
    const { socket } = request
    const line = this.#lines.get(socket) ?? this.#open(socket)
    if (!line.isBusy) return this.#begin(line, request, response)
    if (line.waiting.length < MOST_WAITING) line.waiting.push([request, response])
    else socket.destroy()
  }

  /** Nothing was read or written for a while: fine for one who waits for its answer, and for nobody else. */
  readonly onTimeout = (socket: Socket): void => {
    const isAwaited = this.#lines.get(socket)?.isBusy && socket.writableLength === 0
    if (!isAwaited) socket.destroy()
  }

  /** Cuts off those for whom most waits, until all together keep no more than this. */
  cutTo(maxBytes: number): void {
    let bytes = 0
    for (const socket of this.#lines.keys()) bytes += socket.writableLength
    if (bytes <= maxBytes) return
    for (const socket of [...this.#lines.keys()].sort((a, b) => b.writableLength - a.writableLength)) {
      if (bytes <= maxBytes) return
      bytes -= socket.writableLength
      socket.destroy()
    }
  }

  #open(socket: Socket): Line {
    const waiting: Line['waiting'] = []
    const next = () => {
      line.isBusy = false
      const following = waiting.shift()
      if (following && !socket.destroyed) this.#begin(line, ...following)
    }
    const line: Line = { isBusy: false, waiting, next }
    this.#lines.set(socket, line)
    socket.once('close', () => this.#lines.delete(socket))
    return line
  }

  #begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    line.isBusy = true
    response.once('close', line.next)
    this.#listener(request, response)
  }
}
