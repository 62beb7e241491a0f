// A hub in a process of its own that answers what others left, continues their scripts and starts new ones, until it is
// killed or everything has ended: node script-process.mjs FOLDER JSON. One JSON a line says what it saw.

import { writeSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createToolHub, defineTool, openStore } from '../packages/tool-hub/dist/index.js'

const WAIT_MS = 2_000
const [folder, settings] = process.argv.slice(2)
const { start, known, dieAfterEffects } = JSON.parse(settings)
const effects = join(folder, 'files', 'effects.log')
let made = 0

/** Does something that can be counted outside of the hub: each line of effects.log is one. */
const act = defineTool({
  name: 'proof.act',
  description: 'Has one effect.',
  input: {
    type: 'object',
    properties: { key: { type: 'string' }, padding: { type: 'integer' } },
    required: ['key', 'padding'],
    additionalProperties: false,
  },
  capabilities: ['remote'],
  targets: ({ key }) => ({ remote: `proof:${key}` }),
  results: 'own',
  async execute({ key, padding }) {
    await wait(Math.random() * 4)
    await appendFile(effects, `${key}\n`)
    // The moment at which an effect has happened and nobody knows it.
    if (++made === dieAfterEffects) process.kill(process.pid, 'SIGKILL')
    await wait(Math.random() * 2)
    return { key, padding: 'x'.repeat(padding) }
  },
})

/** Twenty calls: in a row, at the same time, some with long answers, and three that people have to approve. */
const CODE = `
const ends = []
const act = (step, kind = 'go', padding = 0) =>
  tools.proof.act({ key: \`\${kind}-\${input}-\${step}\`, padding }).then(
    ({ key, padding: text }) => ends.push([key, text.length === padding ? 'ok' : 'wrong']),
    ({ code }) => ends.push([\`\${kind}-\${input}-\${step}\`, code]),
  )
for (let step = 1; step <= 4; step++) await act(step)
await Promise.all([act(5), act(6, 'ask'), act(7, 'go', 2_000), act(8)])
for (let step = 9; step <= 12; step++) await act(step, 'go', step * 40)
await Promise.all([act(13, 'ask'), (async () => { await act(14); await act(15) })(), act(16, 'ask', 3_000)])
for (let step = 17; step <= 20; step++) await act(step)
return ends`

const data = join(folder, '.tool-hub')
const store = openStore(data)
const hub = createToolHub({
  runs: join(folder, 'runs'),
  data,
  store,
  tools: [act],
  policy: [{ allow: 'remote' }, { ask: 'remote', on: 'proof:ask-*' }],
  approvals: { inbox: true },
  code: { suspendAfterMs: 5, workers: 8 },
})

say({ type: 'ready' })
for (const { id } of await store.approvals.list({ state: 'waiting' }))
  await hub.approvals.answer(id, { decision: 'allow', by: 'somebody' }).catch(() => {})
const scripts = (await hub.code.list({ limit: 10_000 })).filter(
  ({ status }) => status === 'suspended' || status === 'running',
)
for (const name of known) if (!scripts.some(({ run }) => run === name)) await reportGone(name)
await Promise.all([...scripts.map(proceed), ...start.map(begin)])
say({ type: 'done' })
await hub.close()
await store.close()

/** A script that nobody has to continue: it was never suspended, or it ended and its process was killed before it said so. */
async function reportGone(name) {
  const [script] = await hub.code.list({ run: name, limit: 1 })
  say({ type: 'gone', name, status: script?.status ?? 'lost' })
}

async function begin(name) {
  report(name, await hub.callDynamic('core/code.run', { code: CODE, input: name }, { run: name, caller: 'agent' }))
}

async function proceed({ id, run }) {
  const began = performance.now()
  const input = { script: id, timeoutMs: WAIT_MS }
  const result = await hub.callDynamic('core/code.wait', input, { run, caller: 'agent' })
  report(run, result, { continued: true, ms: performance.now() - began })
}

function report(name, { ok, data: script, error }, more = {}) {
  const { script: id, status, value, kind, message, calls } = script ?? {}
  const problem = ok ? undefined : `${error.code} ${error.message}`
  say({ type: 'script', name, id, status, value, kind, message, calls: calls?.length, problem, ...more })
}

/** Written before anything else happens: a kill loses nothing of it. */
function say(value) {
  writeSync(1, `${JSON.stringify({ pid: process.pid, ...value })}\n`)
}
