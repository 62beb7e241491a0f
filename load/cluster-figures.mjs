import { setTimeout as wait } from 'node:timers/promises'
import { makeTokens } from './make-tokens.mjs'
import { within } from './within.mjs'

const ROUNDS = 150
const APPROVALS = 40
const JOBS = 192
const WARM_JOBS = 24
/** Long enough that what limits them is the number of workers, not the processors that all machines share here. */
const JOB_MS = 800
const RUNS = 6
/** On a busy machine the figures are only printed: what they show there is the machine. */
const LIMITS = { forwardMs: 3, approvalMs: 250, revokeMs: 2_000, workers: 2.5 }

/** Measures a cluster in which nothing is broken. */
export async function measureCluster(checks, cluster, { isCi }) {
  const judge = (name, isRight, found) => {
    if (isCi) console.log(`  ${name}: ${found}`)
    else checks.that(name, isRight, found)
  }
  const forwardMs = await measureForward(cluster)
  judge(
    'a forwarded call takes at most 3 ms more than a local one',
    forwardMs <= LIMITS.forwardMs,
    `${forwardMs.toFixed(2)} ms`,
  )
  const approvalMs = await measureApprovals(cluster)
  judge(
    'an approval that is answered elsewhere ends the wait within 250 ms (p95)',
    approvalMs <= LIMITS.approvalMs,
    `${approvalMs.toFixed(0)} ms`,
  )
  const revokeMs = await measureRevocation(cluster)
  checks.that(
    'a revoked token is refused by all services within 2 s',
    revokeMs <= LIMITS.revokeMs,
    `${revokeMs.toFixed(0)} ms`,
  )
  const ratio = await measureWorkers(cluster)
  judge('three workers do at least 2.5 times as much as one', ratio >= LIMITS.workers, `${ratio.toFixed(2)} x`)
}

/** How much longer a call takes at a service that has to forward it; medians, in milliseconds. */
async function measureForward({ services, tokens, balancer }) {
  const body = { input: { text: 'x' }, run: 'figures-forward' }
  const [local, remote] = services.map((service) => balancer.clientOf(service))
  const times = [[], []]
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, client] of [local, remote].entries()) {
      const began = performance.now()
      assertOk(await client.call(tokens[0], 'load.echo', body))
      if (round >= ROUNDS / 5) times[index].push(performance.now() - began)
    }
  console.log(`  local ${quantile(times[0], 0.5).toFixed(2)} ms, forwarded ${quantile(times[1], 0.5).toFixed(2)} ms`)
  return quantile(times[1], 0.5) - quantile(times[0], 0.5)
}

/** How long a call waits after its approval was answered at another service; 95th percentile. */
async function measureApprovals({ services, tokens, person, balancer }) {
  const [caller, other] = services.map((service) => balancer.clientOf(service))
  const times = []
  for (let number = 0; number < APPROVALS; number++) {
    const key = `figures-send-${number}`
    const calling = caller.call(tokens[1], 'load.send', { input: { key }, run: 'figures-send' })
    const id = await within(30_000, 'the approval request', findRequest(other, person, key))
    const began = performance.now()
    await other.request('POST', `/v1/approvals/${id}`, { token: person, body: { decision: 'allow' } })
    assertOk(await calling)
    times.push(performance.now() - began)
  }
  return quantile(times, 0.95)
}

async function findRequest(client, token, key) {
  for (;;) {
    const { json } = await client.request('GET', '/v1/approvals?limit=200', { token })
    const found = json.approvals?.find(({ state, input }) => state === 'waiting' && input.key === key)
    if (found) return found.id
    await wait(10)
  }
}

async function measureRevocation({ services, balancer }) {
  const [first] = services
  const [secret] = await makeTokens(balancer.clientOf(first), first.token, ['short-lived'])
  const uses = services.map(
    (service) => () => balancer.clientOf(service).call(secret, 'load.echo', { input: { text: 'x' } }),
  )
  for (const use of uses) assertOk(await use())
  const { json } = await balancer.clientOf(first).request('GET', '/v1/tokens', { token: first.token })
  const { id } = json.tokens.find(({ name }) => name === 'short-lived')
  await balancer.clientOf(first).request('DELETE', `/v1/tokens/${id}`, { token: first.token })
  const began = performance.now()
  for (const use of uses) while ((await use()).status !== 401) await wait(10)
  return performance.now() - began
}

/** How much faster three workers are than one. */
async function measureWorkers({ services, tokens, balancer, workers }) {
  const work = async (name, jobs = JOBS) => {
    const began = performance.now()
    const calls = Array.from({ length: jobs }, (_, index) => {
      const client = balancer.clientOf(services[index % services.length])
      const body = { input: { ms: JOB_MS }, run: `${name}-${index % RUNS}` }
      return client.call(tokens[index % RUNS], 'load.wait', body, { isFresh: true })
    })
    for (const answer of await Promise.all(calls)) assertOk(answer)
    return performance.now() - began
  }
  const [first, ...others] = workers
  for (const worker of others) await worker.stop()
  await work('figures-warm', WARM_JOBS)
  const one = await work('figures-one')
  for (const worker of others) await worker.start()
  const three = await work('figures-three')
  console.log(
    `  ${JOBS} jobs of ${JOB_MS} ms: ${one.toFixed(0)} ms with ${first.name} alone, ${three.toFixed(0)} ms with three`,
  )
  await others.at(-1).stop()
  return one / three
}

function assertOk({ status, json, text }) {
  if (status !== 200 || !json.ok) throw new Error(`A call failed: ${status} ${text.slice(0, 300)}`)
}

function quantile(times, share) {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
