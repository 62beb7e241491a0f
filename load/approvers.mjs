import { readEvents } from './read-events.mjs'
import { WsClient } from './ws-client.mjs'

/** Two people who answer everything immediately, over HTTP and over a WebSocket, so that each request has two answers. */
export class Approvers {
  /** By the id of the ask: how often an answer won, and how many came. */
  answers = new Map()
  problems = []
  #stops = []
  #answering = new Set()

  async start(client, url, [byHttp, bySocket]) {
    const { response, close } = await client.open('/v1/events?types=approval', { token: byHttp })
    this.#stops.push(close)
    void this.#follow(response, (id) => this.#answerByHttp(client, byHttp, id))
    const socket = await WsClient.connect(url, bySocket)
    this.#stops.push(() => socket.close())
    socket.onEvent = (event) => this.#hear(event, (id) => this.#answerBySocket(socket, id))
    socket.watch(['approval'])
  }

  async stop() {
    await Promise.allSettled(this.#answering)
    for (const stop of this.#stops) stop()
  }

  async #follow(response, answer) {
    try {
      for await (const event of readEvents(response)) this.#hear(event, answer)
    } catch {
      // It was closed, by us or with the service.
    }
  }

  #hear(event, answer) {
    if (event.type !== 'approval' || event.approval.state !== 'waiting') return
    const { id } = event.approval
    const work = answer(id).then(
      (won) => {
        const { winners = 0, all = 0 } = this.answers.get(id) ?? {}
        this.answers.set(id, { winners: winners + (won ? 1 : 0), all: all + 1 })
      },
      (error) => this.problems.push(`${id}: ${error.message}`),
    )
    this.#answering.add(work)
    void work.finally(() => this.#answering.delete(work))
  }

  async #answerByHttp(client, token, id) {
    const { status, json, text } = await client.request('POST', `/v1/approvals/${id}`, { token, body: DECISION })
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 200)}`)
    return json.won
  }

  async #answerBySocket(socket, id) {
    const { outcome, error, lost } = await socket.approve(id, DECISION)
    if (lost !== undefined) return false
    if (!outcome) throw new Error(JSON.stringify(error))
    return outcome.won
  }
}

const DECISION = { decision: 'allow' }
