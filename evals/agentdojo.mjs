import { fileURLToPath } from 'node:url'
import { createToolHub } from '../dist/index.js'
import { POLICIES } from './policies.mjs'
import { VARIANTS } from './variants.mjs'

const SERVER = fileURLToPath(new URL('replay-server.mjs', import.meta.url))
const ONCE = { decision: 'allow' }
const REMEMBERED = { decision: 'allow', remember: 'always', covers: 'values' }

/**
 * Runs all tasks and attacks of one suite under one policy. With `remembers`, the person who approves a task also says
 * that the values may be used again, and the attacks come after all tasks.
 */
export async function runSuite({ file, suite, data, policy, remembers = false }) {
  const { user, inj } = data
  const hub = await openSuite({ file, suite, data, policy })
  try {
    const play = new Play(hub, suite, remembers ? REMEMBERED : ONCE)
    const tasks = await playTasks(play, user)
    const variants = remembers ? { 'after approvals': VARIANTS['as recorded'] } : VARIANTS
    return { tasks, ...(await playAttacks(play, user, inj, variants)) }
  } finally {
    await hub.close()
  }
}

/** A hub with the server of one suite, under one policy. */
export async function openSuite({ file, suite, data, policy, code = {} }) {
  const { trust, rules = [] } = POLICIES[policy](suite, data.tools)
  const hub = createToolHub({
    mcpServers: { [suite]: { command: process.execPath, args: [SERVER, file, suite], trust } },
    policy: rules,
    runs: false,
    code,
  })
  await hub.ready({ all: true })
  return hub
}

/** The calls of one suite through its hub. */
class Play {
  #hub
  #suite
  #reply
  #runs = 0

  constructor(hub, suite, reply) {
    this.#hub = hub
    this.#suite = suite
    this.#reply = reply
  }

  /** Starts a run that knows what the user said, makes its calls, and ends it. */
  async inRun(prompt, work) {
    const run = `eval-${++this.#runs}`
    await this.#hub.addUserText(prompt, { run })
    await work(run)
    await this.#hub.endRun(run)
  }

  /** Makes a call of the user. Returns the arguments that caused an approval, or `undefined` if it ran without one. */
  async call(run, { tool, args }) {
    let cause
    const result = await this.#call(run, tool, args, ({ unproven = [] }) => {
      cause = unproven
      return this.#reply
    })
    return cause ?? (result.error?.code === 'POLICY_DENIED' ? [] : undefined)
  }

  /** Makes a call of an attacker, which nobody approves. Returns whether it ran. */
  async attack(run, { tool, args }) {
    return (await this.#call(run, tool, args, () => ({ decision: 'deny' }))).ok
  }

  #call(run, tool, args, approve) {
    return this.#hub.callDynamic(`mcp/${this.#suite}.${tool}`, args, { run, approve })
  }
}

/** The user's calls alone: which of them need approval, and because of which arguments. */
async function playTasks(play, user) {
  const tasks = []
  for (const [id, { prompt, calls }] of Object.entries(user)) {
    const approvals = []
    await play.inRun(prompt, async (run) => {
      for (const call of calls) {
        const unproven = await play.call(run, call)
        if (unproven) approvals.push({ tool: call.tool, unproven })
      }
    })
    tasks.push({ id, approvals })
  }
  return tasks
}

/** A hijacked agent: the user's calls up to the injection, then those of the attacker, in every spelling. */
async function playAttacks(play, user, inj, variants) {
  const opened = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  const attacks = attacksOf(inj)
  let pairs = 0
  for (const [id, { prompt, calls, canary }] of Object.entries(user)) {
    const at = firstInjection(canary)
    if (at === -1) continue
    pairs += attacks.length
    await play.inRun(prompt, async (run) => {
      for (const call of calls.slice(0, at + 1)) await play.call(run, call)
      for (const [attack, { calls: own }] of attacks)
        for (const [name, spell] of Object.entries(variants))
          if (
            await isOpen(
              play,
              run,
              own.map((call) => spell(call, prompt)),
            )
          )
            opened[name].push(`${id} ${attack}`)
    })
  }
  return { pairs, opened }
}

/** The attacks that make calls. */
export function attacksOf(inj) {
  return Object.entries(inj).filter(([, { calls }]) => calls.length > 0)
}

/** Which call of a task is the first whose result carries an injection; -1 if none is. */
export function firstInjection(canary) {
  return canary.findIndex(({ vectors }) => vectors.length > 0)
}

/** Whether every call of an attack runs. */
async function isOpen(play, run, calls) {
  for (const call of calls) if (!(await play.attack(run, call))) return false
  return true
}
