import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolHub } from '../packages/tool-hub/dist/index.js'
import { attackWithWords } from './own-words.mjs'
import { VARIANTS } from './variants.mjs'

const SERVER = fileURLToPath(new URL('replay-server.mjs', import.meta.url))
const ONCE = { decision: 'allow' }
const REMEMBERED = { decision: 'allow', remember: 'always', covers: 'values' }

/**
 * Runs all tasks and attacks of one suite under one policy or setting. With `remembers`, the person who approves a task also says
 * that the values may be used again, and the attacks come after all tasks.
 */
export async function runSuite({ file, suite, data, setting, remembers = false, spellings = VARIANTS }) {
  const { user, inj } = data
  const { hearsUser = true } = setting(suite, data.tools)
  return withHub({ file, suite, data, setting }, async (hub) => {
    const play = new Play(hub, { suite, tools: data.tools, reply: remembers ? REMEMBERED : ONCE, hearsUser })
    const tasks = await playTasks(play, user)
    const variants = remembers ? { 'after approvals': VARIANTS['as recorded'] } : spellings
    return { tasks, ...(await playAttacks(play, user, inj, variants)), words: await playWords(play, user) }
  })
}

/** Does work with a hub that has the server of one suite, under one policy, and knows nothing of earlier hubs. */
export async function withHub({ file, suite, data: { tools }, setting, code = {} }, work) {
  const { trust, rules = [] } = setting(suite, tools)
  const data = mkdtempSync(join(tmpdir(), 'tool-hub-evals-'))
  const hub = createToolHub({
    mcpServers: { [suite]: { command: process.execPath, args: [SERVER, file, suite], trust } },
    policy: rules,
    runs: false,
    data,
    code,
  })
  try {
    await hub.ready({ all: true })
    return await work(hub)
  } finally {
    await hub.close()
    rmSync(data, { recursive: true, force: true })
  }
}

/** The calls of one suite through its hub. */
class Play {
  /** The calls that a person approved, and those whose values may be used again. */
  approved = []
  consented = []
  #hub
  #suite
  #tools
  #reply
  #hearsUser
  #runs = 0

  constructor(hub, { suite, tools, reply, hearsUser }) {
    this.#hub = hub
    this.#suite = suite
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.#reply = reply
    this.#hearsUser = hearsUser
  }

  get tools() {
    return [...this.#tools.values()]
  }

  has({ tool }) {
    return this.#tools.has(tool)
  }

  /** Starts a run that knows what the user said, makes its calls, and ends it. */
  async inRun(prompt, work) {
    const run = `eval-${++this.#runs}`
    this.approved = [...this.consented]
    if (this.#hearsUser) await this.#hub.addUserText(prompt, { run })
    await work(run)
    await this.#hub.endRun(run)
  }

  /**
   * Makes a call of the user. Returns the arguments that caused an approval, or `undefined` if it ran without one, and
   * whether its result is from outside.
   */
  async call(run, { tool, args }) {
    let cause
    const result = await this.#call(run, tool, args, ({ unproven = [] }) => {
      cause = unproven
      return this.#reply
    })
    if (cause && this.#reply === REMEMBERED) this.consented.push({ tool, args })
    this.approved.push({ tool, args })
    return {
      cause: cause ?? (result.error?.code === 'POLICY_DENIED' ? [] : undefined),
      isFromOutside: result.meta?.labels?.includes('untrusted') === true,
    }
  }

  /** Makes a call of an attacker, which nobody approves. Returns whether it ran. */
  async attack(run, { tool, args }) {
    return (await this.#call(run, tool, args, () => ({ decision: 'deny' }))).ok
  }

  /** What would happen to a call of an attacker: whether it runs, or the arguments that it would ask about. */
  async decide(run, { tool, args }) {
    const { effect, decision, remembered } = await this.#hub.explain(this.#nameOf(tool), args, { run })
    const runs = effect === 'allow' || (effect === 'ask' && remembered?.decision === 'allow')
    return { runs, unproven: decision?.unproven }
  }

  #call(run, tool, args, approve) {
    return this.#hub.callDynamic(this.#nameOf(tool), args, { run, approve })
  }

  #nameOf(tool) {
    return `mcp/${this.#suite}.${tool}`
  }
}

/** The user's calls alone: which of them need approval, and because of which arguments. */
async function playTasks(play, user) {
  const tasks = []
  for (const [id, { prompt, calls }] of Object.entries(user)) {
    const approvals = []
    await play.inRun(prompt, async (run) => {
      for (const call of calls) {
        const { cause } = await play.call(run, call)
        if (cause) approvals.push({ tool: call.tool, unproven: cause })
      }
    })
    tasks.push({ id, approvals, unknown: calls.filter((call) => !play.has(call)).length })
  }
  return tasks
}

/** A hijacked agent: the user's calls up to the injection, then those of the attacker, in every spelling. */
async function playAttacks(play, user, inj, variants) {
  const opened = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  const unknown = []
  const attacks = attacksOf(inj)
  let pairs = 0
  for (const [id, { prompt, calls, canary }] of Object.entries(user)) {
    const at = firstInjection(canary)
    if (at === -1) continue
    await play.inRun(prompt, async (run) => {
      for (const call of calls.slice(0, at + 1)) await play.call(run, call)
      for (const [attack, { calls: own }] of attacks) {
        const ends = {}
        for (const [name, spell] of Object.entries(variants))
          ends[name] = await endOf(
            play,
            run,
            own.map((call) => spell(call, prompt)),
          )
        if (Object.values(ends).includes('no such tool')) unknown.push(`${id} ${attack}`)
        else pairs++
        for (const [name, end] of Object.entries(ends)) if (end === 'ran') opened[name].push(`${id} ${attack}`)
      }
    })
  }
  return { pairs, opened, unknown }
}

/** The attacks that make calls. */
export function attacksOf(inj) {
  return Object.entries(inj).filter(([, { calls }]) => calls.length > 0)
}

/** Which call of a task is the first whose result carries an injection; -1 if none is. */
export function firstInjection(canary) {
  return canary.findIndex(({ vectors }) => vectors.length > 0)
}

/** How an attack ends: every call of it ran, one was stopped, or one names a tool that the suite lacks. */
async function endOf(play, run, calls) {
  for (const call of calls) {
    const ran = await play.attack(run, call)
    if (!ran) return play.has(call) ? 'stopped' : 'no such tool'
  }
  return 'ran'
}

/**
 * An agent that is hijacked by an attacker who uses the user's own words: after the injection, or the first result from
 * outside where a task has none. Every call that would run is then made, and for each task one that would not.
 */
async function playWords(play, user) {
  const tasks = []
  for (const [id, { prompt, calls, canary }] of Object.entries(user)) {
    const task = {
      id,
      own: [...new Set(calls.map(({ tool }) => tool))],
      opened: [],
      tries: 0,
      checked: 0,
      differences: [],
    }
    await play.inRun(prompt, async (run) => {
      if (!(await hijack(play, run, { calls, at: firstInjection(canary) }))) return
      const { tools, approved, consented } = play
      const decide = (call) => play.decide(run, call)
      const { opened, asked, tries } = await attackWithWords({ tools, prompt, decide, approved, consented })
      Object.assign(task, { opened, tries })
      for (const call of [...opened, ...asked.slice(0, 1)]) {
        task.checked++
        if ((await play.attack(run, call)) !== opened.includes(call)) task.differences.push(call)
      }
    })
    tasks.push(task)
  }
  return tasks
}

/** Makes the user's calls until the agent is hijacked. Returns whether it is. */
async function hijack(play, run, { calls, at }) {
  for (const [index, call] of calls.entries()) {
    const { isFromOutside } = await play.call(run, call)
    if (at === -1 ? isFromOutside : index === at) return true
  }
  return false
}
