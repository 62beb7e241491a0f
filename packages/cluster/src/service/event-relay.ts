import type { Readable } from 'node:stream'
import type { Clock } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { serviceEvent } from '@tool-hub/core/protocol'
import type { StoredProcess } from '../store/types.ts'
import type { SharedEvents } from './call-router.ts'
import type { Forwarder } from './forwarder.ts'
import { EVENTS_PATH } from './internal-server.ts'
import type { Membership } from './run-places.ts'

/** Options of `EventRelay`. */
export interface EventRelayOptions {
  readonly member: Membership
  readonly forwarder: Pick<Forwarder, 'send'>
  readonly events: SharedEvents
  readonly clock: Clock
}

/** How long the other processes are followed after the last subscriber has left: it may reconnect. */
const LINGER_MS = 30_000
const LOOK_MS = 1_000
const RETRY_MS = 500
const MAX_EVENT_CHARS = 4_000_000

/**
 * Follows the events of the other processes while somebody subscribes to those of this one, so that every process shows
 * the events of all. Whenever events may be missing, subscribers get `reset`.
 */
export class EventRelay {
  readonly #options: EventRelayOptions
  readonly #followed = new Map<string, AbortController>()
  #cancelLook: (() => void) | undefined
  #cancelLinger: (() => void) | undefined
  #isFollowing = false
  #isClosed = false

  constructor(options: EventRelayOptions) {
    this.#options = options
    options.events.onDemand((isWanted) => (isWanted ? this.#start() : this.#stopLater()))
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #start(): void {
    this.#cancelLinger?.()
    this.#cancelLinger = undefined
    if (this.#isFollowing || this.#isClosed) return
    this.#isFollowing = true
    // Earlier events of other processes are not known here.
    this.#options.events.breakOff()
    this.#look()
  }

  #stopLater(): void {
    if (!this.#isFollowing) return
    this.#cancelLinger ??= this.#options.clock.after(LINGER_MS, () => this.#stop(), { background: true })
  }

  #stop(): void {
    this.#cancelLinger?.()
    this.#cancelLinger = undefined
    this.#cancelLook?.()
    this.#isFollowing = false
    for (const stop of this.#followed.values()) stop.abort()
    this.#followed.clear()
  }

  /** Follows new processes, and forgets those that have ended. */
  #look(): void {
    const { member, clock, events } = this.#options
    const peers = member.processes().filter(({ id, isAlive, address }) => id !== member.id && isAlive && address)
    const alive = new Set(peers.map(({ id }) => id))
    for (const [id, stop] of this.#followed) {
      if (alive.has(id)) continue
      stop.abort()
      this.#followed.delete(id)
      events.forget(id)
      // Its last events may not have arrived.
      events.breakOff()
    }
    for (const peer of peers) if (!this.#followed.has(peer.id)) void this.#follow(peer)
    this.#cancelLook = clock.after(LOOK_MS, () => this.#look(), { background: true })
  }

  async #follow(peer: StoredProcess): Promise<void> {
    const { events, clock } = this.#options
    const stop = new AbortController()
    this.#followed.set(peer.id, stop)
    let after: string | undefined
    while (!stop.signal.aborted) {
      try {
        const stream = await this.#open(peer, after, stop.signal)
        if (after === undefined) events.breakOff()
        for await (const { id, data } of readServerEvents(stream)) {
          after = id ?? after
          const event = serviceEvent.safeParse(parseJson(data)).data
          if (event?.type === 'reset') events.breakOff()
          else if (event) events.relay(event, peer.id)
        }
      } catch {
        // Tried again below; a process that stays away is forgotten by `#look`.
      }
      if (!stop.signal.aborted)
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve, { background: true }))
    }
  }

  async #open(
    { id: process, address }: StoredProcess,
    after: string | undefined,
    signal: AbortSignal,
  ): Promise<Readable> {
    const path = after === undefined ? EVENTS_PATH : `${EVENTS_PATH}?after=${encodeURIComponent(after)}`
    const request = { method: 'GET', path, headers: {}, signal }
    const { status, body } = await this.#options.forwarder.send({ process, address: address! }, request)
    if (status === 200 && !Buffer.isBuffer(body)) return body
    throw new Error(`Process ${process} answers ${status}.`)
  }
}

/** Reads server-sent events, whose `data` is one line. */
export async function* readServerEvents(
  stream: Readable,
): AsyncGenerator<{ readonly type: string; readonly data: string; readonly id?: string }> {
  let rest = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream as AsyncIterable<string>) {
    rest += chunk
    const blocks = rest.split('\n\n')
    rest = blocks.pop()!
    if (rest.length > MAX_EVENT_CHARS) throw new Error('An event is too long.')
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => splitField(line)))
      const data = fields.get('data')
      const id = fields.get('id')
      if (data !== undefined) yield { type: fields.get('event') ?? 'message', data, ...(id !== undefined && { id }) }
    }
  }
}

function splitField(line: string): [string, string] {
  const at = line.indexOf(': ')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 2)]
}
