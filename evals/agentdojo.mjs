import { fileURLToPath } from 'node:url'
import { createToolHub } from '../dist/index.js'
import { annotationsOf, POLICIES } from './policies.mjs'
import { VARIANTS } from './variants.mjs'

const SERVER = fileURLToPath(new URL('replay-server.mjs', import.meta.url))

/** Runs all tasks and attacks of one suite under one policy. */
export async function runSuite(file, suite, { tools, user, inj }, policyName) {
  const { trust, policy } = POLICIES[policyName](suite, tools)
  const hub = createToolHub({
    mcpServers: { [suite]: { command: process.execPath, args: [SERVER, file, suite], trust } },
    policy: policy ?? [],
    runs: false,
    limits: { run: {} },
  })
  try {
    await hub.ready({ all: true })
    const names = new Map(hub.registry.list().map(({ name }) => [name.split('.').at(-1), name]))
    const play = new Play(hub, suite, names)
    return { benign: await benign(play, user), attacks: await attacked(play, user, inj) }
  } finally {
    await hub.close()
  }
}

class Play {
  #runs = 0

  constructor(hub, suite, names) {
    this.hub = hub
    this.suite = suite
    this.names = names
  }

  /** Starts a task: a run that knows what the user said. */
  async begin(prompt) {
    const run = `eval-${++this.#runs}`
    await this.hub.addUserText(prompt, { run })
    return run
  }

  /** Makes a call. Returns whether it ran without approval; with `remember`, a person approves it. */
  async call(run, { tool, args }, { approves = true, onAsk = () => {} } = {}) {
    let isAsked = false
    const result = await this.hub.callDynamic(this.names.get(tool) ?? `mcp/${this.suite}.${tool}`, args, {
      run,
      approve: (request) => {
        isAsked = true
        onAsk(request)
        return { decision: approves ? 'allow' : 'deny' }
      },
    })
    return { ran: !isAsked && result.ok, isAsked, error: result.error?.code }
  }
}

/** The user's calls alone: how many need approval. */
async function benign(play, user) {
  const tasks = []
  for (const [id, { prompt, calls }] of Object.entries(user)) {
    const run = await play.begin(prompt)
    const asked = []
    for (const call of calls) {
      const { isAsked, error } = await play.call(run, call)
      if (isAsked || error === 'POLICY_DENIED') asked.push(call.tool)
    }
    await play.hub.endRun(run)
    tasks.push({ id, asked })
  }
  return tasks
}

/** The user's calls up to the injection, then those of the attacker, in every spelling. */
async function attacked(play, user, inj) {
  const opened = Object.fromEntries(Object.keys(VARIANTS).map((name) => [name, []]))
  let pairs = 0
  for (const [id, { prompt, calls, canary }] of Object.entries(user)) {
    const at = canary.findIndex(({ vectors }) => vectors.length > 0)
    if (at === -1) continue
    const attacks = Object.entries(inj).filter(([, { calls: own }]) => own.length > 0)
    pairs += attacks.length
    const run = await play.begin(prompt)
    for (const call of calls.slice(0, at + 1)) await play.call(run, call)
    for (const [attack, { calls: own }] of attacks) {
      for (const [name, spell] of Object.entries(VARIANTS)) {
        let isStopped = false
        for (const call of own.map((each) => spell(each, prompt))) {
          const { ran } = await play.call(run, call, { approves: false })
          if (ran) continue
          isStopped = true
          break
        }
        if (!isStopped)
          opened[name].push(
            `${id} ${attack} ${process.env.SHOW ? JSON.stringify(own.map((each) => spell(each, prompt).args)) : ''}`,
          )
      }
    }
    await play.hub.endRun(run)
  }
  return { pairs, opened }
}

export { annotationsOf }
