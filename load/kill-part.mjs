import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { auditVerify } from './audit-verify.mjs'
import { checkEffects } from './effects.mjs'
import { endOpenRuns } from './end-open-runs.mjs'
import { HttpClient } from './http-client.mjs'
import { KillWorker } from './kill-worker.mjs'
import { makeTokens } from './make-tokens.mjs'
import { readRecords } from './read-records.mjs'
import { startProcess } from './service-process.mjs'

const WORKERS = 24
const ASKS_A_ROUND = 2
const MIN_MS = 200
const MAX_MS = 900

/** Kills the service under load, again and again: nothing that was acknowledged is lost, nothing happens twice. */
export async function runKills(checks, folder, { kills }) {
  let service = await startProcess(folder)
  const { port } = service
  const [workers, asker] = await makeWorkers(service)
  const asks = new Asks(asker)
  const starts = []
  for (let round = 0; round < kills; round++) {
    await workUntilKilled(service, workers, asks)
    service = await startProcess(folder, { port })
    starts.push(service.startMs)
    await asks.look(service)
  }
  const client = new HttpClient(service.url)
  for (const worker of workers) await worker.finish(client)
  checks.that(
    `it starts again after each of ${kills} kills`,
    service.isAlive,
    `in ${Math.max(...starts, 0).toFixed(0)} ms at most`,
  )
  await asks.check(checks, client, service)
  client.close()
  await service.stop()
  await endOpenRuns(folder)
  await checkAnswers(checks, folder, workers)
  await checkRecords(checks, folder, workers)
  await auditVerify(checks, folder)
}

async function makeWorkers(service) {
  const client = new HttpClient(service.url)
  const names = Array.from({ length: WORKERS }, (_, index) => `worker-${index}`)
  const tokens = await makeTokens(client, service.token, [...names, 'asker'])
  client.close()
  // Half of them name their run and go on in it, half have a new one with every start.
  const workers = names.map(
    (name, index) => new KillWorker(name, tokens[index], index % 2 === 0 ? `run-of-${name}` : undefined),
  )
  return [workers, tokens.at(-1)]
}

async function workUntilKilled(service, workers, asks) {
  const client = new HttpClient(service.url)
  const stop = new AbortController()
  const working = workers.map((worker) => worker.work(client, stop.signal))
  const asking = asks.ask(client)
  await wait(MIN_MS + Math.random() * (MAX_MS - MIN_MS))
  await asks.note(client, service)
  await service.kill()
  stop.abort()
  await Promise.all([...working, asking])
  client.close()
}

/** Calls that wait for a person when the service is killed. */
class Asks {
  #token
  #number = 0
  #texts = []
  #pending = new Set()
  #missing = []

  constructor(token) {
    this.#token = token
  }

  async ask(client) {
    const calls = Array.from({ length: ASKS_A_ROUND }, () => {
      const text = `ask-${this.#number++}`
      this.#texts.push(text)
      return this.#call(client, text)
    })
    await Promise.allSettled(calls)
  }

  /** Those that are in the store now must be there after the kill. */
  async note(client, service) {
    for (const { id } of await this.#list(client, service)) this.#pending.add(id)
  }

  async look(service) {
    const client = new HttpClient(service.url)
    const listed = new Set((await this.#list(client, service)).map(({ id }) => id))
    for (const id of this.#pending) if (!listed.has(id)) this.#missing.push(id)
    client.close()
  }

  async check(checks, client, service) {
    const found = `${this.#missing.length} of ${this.#pending.size} are gone: ${this.#missing[0]}`
    checks.that(
      `${this.#pending.size} asks still wait after the kills`,
      this.#pending.size > 0 && this.#missing.length === 0,
      this.#missing.length === 0 ? '' : found,
    )
    const waiting = await this.#list(client, service)
    for (const { id } of waiting) {
      await client.request('POST', `/v1/approvals/${id}`, { token: service.token, body: { decision: 'allow' } })
    }
    const answered = new Set(waiting.map(({ input }) => input.text))
    const results = await Promise.all(
      this.#texts.filter((text) => answered.has(text)).map((text) => this.#call(client, text)),
    )
    const failed = results.filter(({ json }) => json?.ok !== true)
    checks.that(
      'and, once allowed, the same calls go through',
      results.length > 0 && failed.length === 0,
      failed[0]?.text.slice(0, 300),
    )
  }

  #call(client, text) {
    return client.call(this.#token, 'load.send', { input: { text } }, { timeoutMs: 20_000 })
  }

  async #list(client, service) {
    const { json } = await client.request('GET', '/v1/approvals?limit=500', { token: service.token })
    return json.approvals
  }
}

async function checkAnswers(checks, folder, workers) {
  const effects = await checkEffects(checks, join(folder, 'files', 'effects.log'))
  const answers = workers.flatMap(({ acknowledged }) => acknowledged).filter(({ key }) => key !== undefined)
  const lost = answers.filter(({ key, ok }) => ok && !effects.has(key))
  checks.none('every effect that was acknowledged has happened', lost)
  const failed = answers.filter(({ ok, code }) => !ok && code !== 'CONFLICT')
  const unknown = answers.filter(({ ok }) => !ok).length - failed.length
  checks.none(`a key whose call was killed is settled or in conflict (${unknown})`, failed)
}

async function checkRecords(checks, folder, workers) {
  const calls = await readRecords(folder)
  const acknowledged = workers.flatMap((worker) => worker.acknowledged)
  const missing = acknowledged.filter(({ callId }) => !calls.ended.has(callId))
  checks.none(`each of ${acknowledged.length} acknowledged calls is in the records`, missing)
  calls.checkEnds(checks)
  const problems = workers.flatMap((worker) => worker.problems)
  checks.none('every answer was typed', problems)
}
