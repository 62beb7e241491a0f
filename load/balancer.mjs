import { setTimeout as wait } from 'node:timers/promises'
import { HttpClient } from './http-client.mjs'

const CHECK_MS = 1_000
/** So many checks in a row decide. */
const CHECKS = 2

/**
 * Sends requests to services that are ready, as deploy/haproxy.cfg does, and cuts connections to those that are not and do
 * not drain.
 */
export class Balancer {
  #services
  /** By service: a client, the state that counts, and how many of the last checks had another outcome. */
  #known = new Map()
  #stop = new AbortController()

  constructor(services) {
    this.#services = services
    for (const service of services) {
      this.#known.set(service, { state: 'ready', differing: 0 })
      void this.#check(service)
    }
  }

  /** A client of a service; `undefined` while none is ready. */
  choose() {
    const ready = this.#services.filter(
      (service) => service.state !== 'down' && this.#known.get(service).state === 'ready',
    )
    if (ready.length === 0) return undefined
    return this.clientOf(ready[Math.floor(Math.random() * ready.length)])
  }

  clientOf(service) {
    const known = this.#known.get(service)
    if (known.url !== service.url) {
      known.client?.close()
      Object.assign(known, { url: service.url, client: new HttpClient(service.url) })
    }
    return known.client
  }

  close() {
    this.#stop.abort()
    for (const { client } of this.#known.values()) client?.close()
  }

  async #check(service) {
    const known = this.#known.get(service)
    while (!this.#stop.signal.aborted) {
      const state = await stateOf(service)
      known.differing = state === known.state ? 0 : known.differing + 1
      if (known.differing >= CHECKS) {
        Object.assign(known, { state, differing: 0 })
        if (state === 'failed') this.#cut(known)
      }
      await wait(CHECK_MS)
    }
  }

  #cut(known) {
    known.client?.close()
    Object.assign(known, { url: undefined, client: undefined })
  }
}

async function stateOf({ url, state }) {
  if (state === 'down') return 'failed'
  // A connection of its own, so that a check is not cut with the others.
  const client = new HttpClient(url)
  try {
    const { status, json } = await client.request('GET', '/readyz', { timeoutMs: CHECK_MS })
    if (status === 200) return 'ready'
    return json?.part === 'draining' ? 'draining' : 'failed'
  } catch {
    return 'failed'
  } finally {
    client.close()
  }
}
