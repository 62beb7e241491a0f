import { setTimeout as wait } from 'node:timers/promises'
import { readEvents } from './read-events.mjs'
import { untyped, untypedResult } from './typed.mjs'

const THINK_MS = 600

/** What agents do, and how often of a hundred times. */
const MIX = Object.entries({ echo: 36, read: 14, write: 10, denied: 8, unknown: 6, approved: 4, stream: 8, socket: 14 })

/** An agent that calls one thing after the other until it is stopped. */
export class Agent {
  #parts
  #name
  #number = 0

  /** `parts`: client, token, socket (where it has one), latencies, problems. */
  constructor(name, parts) {
    this.#name = name
    this.#parts = parts
  }

  async work(signal) {
    while (!signal.aborted) {
      const kind = this.#choose()
      try {
        const problem = await this.#parts.latencies.time(kind, () => this.#act(kind))
        if (problem) this.#parts.problems.push(`${kind}: ${problem}`)
      } catch (error) {
        this.#parts.problems.push(`${kind}: ${error.message}`)
      }
      await wait(Math.random() * THINK_MS)
    }
  }

  #choose() {
    let left = Math.random() * 100
    for (const [kind, share] of MIX) {
      left -= share
      if (left < 0 && (kind !== 'socket' || this.#parts.socket)) return kind
    }
    return 'echo'
  }

  #act(kind) {
    const text = `${this.#name}-${this.#number++}`
    switch (kind) {
      case 'echo':
        return this.#call('load.echo', { text }, 'ok')
      case 'read':
        return this.#call('core/fs.readText', { path: 'read.txt', offset: 1 + (this.#number % 150), limit: 20 }, 'ok')
      case 'write':
        return this.#call(
          'core/fs.writeText',
          { path: `${this.#name}/${text}.txt`, text: text.repeat(50), mkdirp: true },
          'ok',
        )
      case 'denied':
        return this.#call('load.never', { text }, 'POLICY_DENIED')
      case 'unknown':
        return this.#call(`load.nothing${this.#number}`, {}, 'TOOL_NOT_FOUND')
      case 'approved':
        return this.#call('load.send', { text }, 'ok')
      case 'stream':
        return this.#stream(text)
      case 'socket':
        return this.#callBySocket(text)
    }
  }

  async #call(tool, input, wanted) {
    const { client, token } = this.#parts
    const answer = await client.call(token, tool, { input })
    return untyped(answer) ?? unlike(answer.json, wanted)
  }

  async #callBySocket(text) {
    const { result, error, lost } = await this.#parts.socket.call('load.echo', { text })
    if (lost !== undefined) return `the WebSocket was closed: ${lost}`
    return result ? (untypedResult(result) ?? unlike(result, 'ok')) : JSON.stringify(error)
  }

  async #stream(text) {
    const { client, token } = this.#parts
    const answer = await client.call(
      token,
      'load.tell',
      { input: { text } },
      { headers: { accept: 'text/event-stream' } },
    )
    if (answer.status !== 200) return untyped(answer) ?? `the stream was refused: ${answer.json.error.code}`
    const events = []
    for await (const event of readEvents(streamOf(answer.text))) events.push(event)
    const ends = events.filter(({ type }) => type === 'call-ended')
    if (ends.length !== 1 || events.at(-1) !== ends[0]) return `a stream with ${ends.length} ends`
    return untypedResult(ends[0].result) ?? unlike(ends[0].result, 'ok')
  }
}

/** What came instead of what should have come. */
function unlike(result, wanted) {
  const got = result.ok ? 'ok' : (result.error?.code ?? 'nothing')
  return got === wanted ? undefined : `${got} instead of ${wanted}: ${result.error?.message ?? ''}`
}

function streamOf(text) {
  return { setEncoding: () => [text] }
}
