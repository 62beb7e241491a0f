import { setTimeout as wait } from 'node:timers/promises'
import { untyped } from './typed.mjs'

const AGAIN_MS = 20

/** A client that has one effect after the other, and asks again with the same key until it knows what became of it. */
export class KillWorker {
  #name
  #token
  #run
  #number = 0
  /** The key whose answer did not come. */
  #left
  /** What was answered: callId, and for effects the key and the code of the failure. */
  acknowledged = []
  problems = []

  /** Without `run`, the calls are of the principal's own run, another one with every start. */
  constructor(name, token, run) {
    this.#name = name
    this.#token = token
    this.#run = run && { run }
  }

  /** Until the service is gone, or until stopped. */
  async work(client, signal) {
    try {
      while (!signal.aborted) {
        await this.#append(client)
        await this.#echo(client)
      }
    } catch {
      // It was killed; what was on its way is asked for again.
    }
  }

  /** Settles what is left, and has the run opened again. */
  async finish(client) {
    if (this.#left !== undefined) await this.#append(client)
    await this.#echo(client)
  }

  async #append(client) {
    this.#left ??= `${this.#name}-${this.#number++}`
    const key = this.#left
    const answer = await client.call(this.#token, 'load.append', { input: { key }, idempotencyKey: key, ...this.#run })
    const problem = untyped(answer)
    if (problem) this.problems.push(problem)
    if (answer.status !== 200) return wait(AGAIN_MS)
    this.#left = undefined
    this.acknowledged.push({ callId: answer.json.callId, key, ok: answer.json.ok, code: answer.json.error?.code })
  }

  async #echo(client) {
    const text = `${this.#name} ${this.#number}`
    const answer = await client.call(this.#token, 'load.echo', { input: { text }, ...this.#run })
    const problem = untyped(answer)
    if (problem) this.problems.push(problem)
    if (answer.status === 200) this.acknowledged.push({ callId: answer.json.callId, ok: answer.json.ok })
  }
}
