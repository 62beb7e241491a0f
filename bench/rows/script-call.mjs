import { Worker } from 'node:worker_threads'
import { createRunner } from 'run'
import { createToolHub, defineTool, openStore } from '../../packages/tool-hub/dist/index.js'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { dataOf, governedHub } from '../lib/ours.mjs'
import { quantile } from '../lib/statistics.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 1_000
const RESUMES = 20
const SCRIPTS = 10
const LIMIT = { maxCalls: CALLS + 1 }
/** Below this, growth of the heap is noise of the engine; it is what 20,000 direct calls may leave. */
const NOISE_BYTES = 16

/** A call that a script makes, beside a bare message to a worker thread and back, and beside Vercel's `run`. */
export default async function scriptCall({ rounds }) {
  return withTempFolder(async (runs) => {
    const hub = governedHub({ runs, code: LIMIT })
    const bare = governedHub({ runs: false, code: LIMIT })
    const floor = startPingPong()
    const runner = createRunner({ limits: { maxBridgeRequests: CALLS } })
    const script = async (on) => {
      const [empty, full] = [await millisecondsOf(() => run(on, 0)), await millisecondsOf(() => run(on, CALLS))]
      return (1_000 * (full - empty)) / CALLS
    }
    const vercel = async () => {
      const [empty, full] = [await millisecondsOf(() => peer(runner, 0)), await millisecondsOf(() => peer(runner, 200))]
      return (1_000 * (full - empty)) / 200
    }
    const samples = await measureInRounds(
      {
        floor: async () => (1_000 * (await millisecondsOf(() => floor.exchange(CALLS)))) / CALLS,
        ours: () => script(hub),
        unrecorded: () => script(bare),
        vercel,
        start: () => millisecondsOf(() => run(hub, 0)),
        vercelStart: () => millisecondsOf(() => peer(runner, 0)),
      },
      { rounds },
    )
    const kept = await keptHeap(bare, rounds)
    await Promise.all([hub.close(), bare.close(), floor.close()])
    const resumes = await resumeTimes(runs, rounds)
    return [
      ratioFigure('inner call : bare worker round trip', samples.unrecorded, samples.floor, { goal: 5 }),
      ratioFigure('inner call, audited : bare worker round trip', samples.ours, samples.floor),
      ratioFigure("inner call, audited : Vercel's run", samples.ours, samples.vercel, { goal: 0.5 }),
      figure('kept per inner call', kept, { unit: 'bytes', goal: NOISE_BYTES }),
      figure('resume with 20 calls, p95', resumes, { unit: 'ms', goal: 100 }),
      ratioFigure("start of a script : Vercel's run", samples.start, samples.vercelStart),
      figure('start of a script', samples.start, { unit: 'ms' }),
      figure('inner call, audited', samples.ours, { unit: 'us' }),
      figure('inner call', samples.unrecorded, { unit: 'us' }),
      figure('bare worker round trip', samples.floor, { unit: 'us' }),
      figure("inner call of Vercel's run", samples.vercel, { unit: 'us' }),
    ]
  })
}

/** A script with so many calls, one after another. */
async function run(hub, calls) {
  const code = `let sum = 0
for (let n = 0; n < ${calls}; n++) ({ sum } = await tools.bench.math.add({ a: sum, b: 1 }))
return sum`
  const { status, value, message } = await dataOf(hub.callDynamic('core/code.run', { code }))
  if (status !== 'completed' || value !== calls) throw new Error(`${status} ${value} ${message}`)
}

async function peer(runner, calls) {
  const source = `let sum = 0
for (let n = 0; n < ${calls}; n++) ({ sum } = await tools.add({ a: sum, b: 1 }))
return sum`
  const { status, value } = await runner.run({
    source,
    hostFunctions: { tools: { add: async ({ a, b }) => ({ sum: a + b }) } },
  })
  if (status !== 'completed' || value !== calls) throw new Error(`${status} ${value}`)
}

/** A thread that answers each message with another one. */
function startPingPong() {
  const source =
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m))"
  const worker = new Worker(source, { eval: true })
  const exchange = (times) =>
    new Promise((resolve) => {
      let left = times
      const next = () => (left-- > 0 ? worker.postMessage({ seq: left, json: '{"sum":1}' }) : resolve())
      worker.removeAllListeners('message').on('message', next)
      next()
    })
  return { exchange, close: () => worker.terminate() }
}

/** Heap that a warm hub has more after scripts with 1,000 calls each, for each call. */
async function keptHeap(hub, rounds) {
  const samples = []
  for (let round = -1; round < rounds; round++) {
    const before = await settledHeap()
    for (let script = 0; script < SCRIPTS; script++) await run(hub, CALLS)
    if (round >= 0) samples.push(((await settledHeap()) - before) / (CALLS * SCRIPTS))
  }
  return samples
}

/** Several collections with a pause between them: finalizers and messages of workers free more. */
async function settledHeap() {
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return process.memoryUsage().heapUsed
}

const TWENTY = `for (let n = 0; n < 19; n++) await tools.bench.act({ key: 'go' + input + n })
return tools.bench.act({ key: 'ask' + input })`

const act = defineTool({
  name: 'bench.act',
  description: 'Does something.',
  input: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'], additionalProperties: false },
  capabilities: ['remote'],
  targets: ({ key }) => ({ remote: `bench:${key}` }),
  results: 'own',
  execute: ({ key }) => ({ key, text: 'x'.repeat(200) }),
})

/** From the request to the result of a script that was suspended at its twentieth call and is approved: the 95th percentile. */
async function resumeTimes(folder, rounds) {
  const samples = []
  const store = openStore(`${folder}/store`)
  const policy = [{ allow: 'remote' }, { ask: 'remote', on: 'bench:ask*' }]
  const options = { runs: folder, data: folder, store, policy, tools: [act], approvals: { inbox: true } }
  for (let round = 0; round < rounds; round++) {
    const first = createToolHub({ ...options, code: { suspendAfterMs: 0 } })
    const suspended = []
    for (let n = 0; n < RESUMES; n++) {
      const run = `resume-${round}-${n}`
      suspended.push({
        run,
        ...(await dataOf(first.callDynamic('core/code.run', { code: TWENTY, input: run }, { run }))),
      })
    }
    await first.close()
    const second = createToolHub(options)
    const times = []
    for (const { run, script, status, approvals } of suspended) {
      if (status !== 'suspended') throw new Error(status)
      await second.approvals.answer(approvals[0], { decision: 'allow', by: 'somebody' })
      times.push(
        await millisecondsOf(async () => {
          const ended = await dataOf(second.callDynamic('core/code.wait', { script }, { run }))
          if (ended.status !== 'completed') throw new Error(`${ended.status} ${ended.message}`)
        }),
      )
    }
    await second.close()
    samples.push(quantile(times, 0.95))
  }
  await store.close()
  return samples
}
