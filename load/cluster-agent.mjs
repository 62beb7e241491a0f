import { setTimeout as wait } from 'node:timers/promises'
import { untyped } from './typed.mjs'

const CALL_MS = 8_000
const AGAIN_MS = 100
const THINK_MS = 400

/** What agents do, and how often of a hundred times. */
const MIX = Object.entries({ 'load.append': 40, 'load.echo': 30, 'load.work': 20, 'load.send': 10 })

/** Ends of calls whose process or worker was lost or cut off in the middle: nobody knows whether they had their effect. */
const UNKNOWN = new Set(['CONFLICT', 'WORKER_LOST', 'PROCESS_CUT_OFF', 'RUN_MOVED'])

/** An agent that makes one call after the other, each with a key of its own, again and again until it knows its end. */
export class ClusterAgent {
  #name
  #token
  #run
  #balancer
  #number = 0
  /** Calls whose end is known: key, tool, callId, code if it failed, when, and what was tried. */
  acknowledged = []
  /** Failures that were worth another try, by their code. */
  retried = new Map()
  problems = []
  /** What became of each attempt at the call whose end is not known yet. */
  open = []
  #hasGivenUp = false

  constructor(name, { token, run, balancer }) {
    this.#name = name
    this.#token = token
    this.#run = run && { run }
    this.#balancer = balancer
  }

  async work(signal) {
    while (!signal.aborted) {
      await this.#settle(choose())
      await wait(Math.random() * THINK_MS)
    }
  }

  /** Makes a call until its end is known. */
  async #settle(tool) {
    const key = `${this.#name}-${this.#number++}`
    const began = performance.now()
    for (;;) {
      const end = await this.#attempt(tool, key)
      if (this.#hasGivenUp) return
      if (end === undefined) {
        await wait(AGAIN_MS)
        continue
      }
      this.acknowledged.push({ key, tool, ...end, at: performance.now(), began, attempts: this.open })
      this.open = []
      return
    }
  }

  /** Does not wait for the end of its last call any more. */
  giveUp() {
    this.#hasGivenUp = true
  }

  /** The end of the call; `undefined` if it is not known yet. */
  async #attempt(tool, key) {
    const client = this.#balancer.choose()
    if (!client) return undefined
    const input = tool === 'load.echo' ? { text: key } : { key }
    let answer
    try {
      const body = { input, idempotencyKey: key, ...this.#run }
      answer = await client.call(this.#token, tool, body, { timeoutMs: CALL_MS })
    } catch {
      this.#tryAgain(tool, key, 'no answer')
      return undefined
    }
    const problem = untyped(answer)
    if (problem) this.problems.push(`${tool}: ${problem}`)
    const { status, json } = answer
    if (status === 200 && json.ok) return { callId: json.callId, ok: true, isRepeated: json.meta.cached === true }
    const error = json?.error
    // Without records, a call with the same key is safe even if it was executed.
    if (error?.retryable || error?.code === 'RECORDS_UNAVAILABLE' || (status !== 200 && status >= 429)) {
      this.#tryAgain(tool, key, error.code, error.message)
      return undefined
    }
    if (status === 200 && UNKNOWN.has(error?.code)) return { callId: json.callId, ok: false, code: error.code }
    this.problems.push(`${tool} ${key}: ${status} ${error?.code} ${error?.message}`)
    return { callId: json?.callId, ok: false, code: error?.code }
  }

  #tryAgain(tool, key, code, message = '') {
    this.retried.set(code, (this.retried.get(code) ?? 0) + 1)
    this.open.push(`${performance.now().toFixed(0)} ${tool} ${key}: ${code} ${message}`)
  }
}

/** An agent that calls all the time, with or without success, so that its budget is used up. */
export class Spender {
  #name
  #token
  #balancer
  #number = 0
  /** Calls that were made within the budget. */
  done = 0

  constructor(name, { token, balancer }) {
    this.#name = name
    this.#token = token
    this.#balancer = balancer
  }

  async work(signal) {
    while (!signal.aborted) {
      const body = { input: { text: `${this.#name} ${this.#number++}` }, run: this.#name }
      const answer = await this.#balancer
        .choose()
        ?.call(this.#token, 'load.echo', body, { timeoutMs: CALL_MS })
        .catch(() => {})
      if (answer?.json?.ok) this.done++
      await wait(50)
    }
  }
}

/** A person who answers what waits, at any service. */
export class ClusterApprover {
  #token
  #balancer
  /** When each call was allowed, by the key in its input. */
  answeredAt = new Map()
  problems = []

  constructor({ token, balancer }) {
    this.#token = token
    this.#balancer = balancer
  }

  async work(signal) {
    while (!signal.aborted) {
      await this.#answerAll().catch(() => {})
      await wait(AGAIN_MS)
    }
  }

  async #answerAll() {
    const options = { token: this.#token, timeoutMs: CALL_MS }
    const { status, json } = (await this.#balancer.choose()?.request('GET', '/v1/approvals?limit=200', options)) ?? {}
    if (status !== 200) return
    const waiting = json.approvals.filter(({ state }) => state === 'waiting')
    await Promise.all(waiting.map((approval) => this.#answer(approval, options).catch(() => {})))
  }

  async #answer({ id, input }, options) {
    const answer = { ...options, body: { decision: 'allow' } }
    const { status, json, text } = await this.#balancer.choose().request('POST', `/v1/approvals/${id}`, answer)
    if (status === 200) {
      if (json.won) this.answeredAt.set(input.key, performance.now())
    } else if (status < 429) this.problems.push(`${id}: ${status} ${text.slice(0, 200)}`)
  }
}

function choose() {
  let left = Math.random() * 100
  for (const [tool, share] of MIX) {
    left -= share
    if (left < 0) return tool
  }
  return 'load.echo'
}
