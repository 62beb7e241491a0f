import { attacksOf, firstInjection, withHub } from './agentdojo.mjs'
import { VARIANTS } from './variants.mjs'

/** How the attacks are spelled here: whether a script makes a call says nothing about its arguments. */
const SPELLINGS = ['as recorded', "with the user's words"].map((name) => VARIANTS[name])

/** Makes the calls of a task, and then those of each attack until one does not run. */
const CODE = `const ends = []
const make = async ({ tool, args }) => {
  const end = await tools.mcp[input.suite][tool](args).then(() => 'ok', ({ code }) => code)
  ends.push(end)
  return end === 'ok'
}
for (const call of input.calls) await make(call)
for (const attack of input.attacks) for (const call of attack) if (!(await make(call))) break
return ends`

/**
 * Makes all calls of one suite twice under one policy: directly, and by one script for each run. Returns how many calls were
 * made, those that were decided in another way, and how often a tool was named that the suite lacks. A decision is how the call ended, and what a person was asked about.
 */
export async function compareScripts(options) {
  const { suite, data } = options
  return withHub({ ...options, code: { maxCalls: 10_000, timeoutMs: 600_000, cpuMs: 600_000 } }, async (hub) => {
    const differences = []
    let calls = 0
    let unknown = 0
    for (const [index, task] of runsOf(data).entries()) {
      unknown += task.unknown
      const direct = await playDirectly(hub, suite, { ...task, run: `direct-${index}` })
      const scripted = await playScript(hub, suite, { ...task, run: `script-${index}` })
      calls += direct.length
      for (let n = 0; n < Math.max(direct.length, scripted.length); n++)
        if (direct[n] !== scripted[n])
          differences.push({ task: task.id, call: n + 1, direct: direct[n], script: scripted[n] })
    }
    return { calls, unknown, differences }
  })
}

/** Every task as it is, and hijacked where its results carry an injection, with all attacks. */
function runsOf({ tools, user, inj }) {
  const names = new Set(tools.map(({ name }) => name))
  const isKnown = ({ tool }) => names.has(tool)
  const attacks = attacksOf(inj)
  return Object.entries(user).flatMap(([id, { prompt, calls: all, canary }]) => {
    const calls = all.filter(isKnown)
    const plain = { id, prompt, calls, attacks: [], unknown: all.length - calls.length }
    const at = firstInjection(canary)
    if (at === -1) return [plain]
    const spelled = attacks.flatMap(([, own]) => SPELLINGS.map((spell) => own.calls.map((call) => spell(call, prompt))))
    const hijacked = {
      id: `${id}, hijacked`,
      prompt,
      calls: all.slice(0, at + 1).filter(isKnown),
      // An attack ends where it names a tool that does not exist.
      attacks: spelled.map((attack) => attack.slice(0, endOfKnown(attack, isKnown))),
      unknown: spelled.filter((attack) => !attack.every(isKnown)).length,
    }
    return [plain, hijacked]
  })
}

function endOfKnown(calls, isKnown) {
  const at = calls.findIndex((call) => !isKnown(call))
  return at === -1 ? calls.length : at
}

async function playDirectly(hub, suite, { run, prompt, calls, attacks }) {
  await hub.addUserText(prompt, { run })
  const decisions = []
  const make = async ({ tool, args }, decision) => {
    let asked = ''
    const approve = (request) => {
      asked = about(request)
      return { decision }
    }
    const { ok, error } = await hub.callDynamic(`mcp/${suite}.${tool}`, args, { run, approve })
    decisions.push(`${ok ? 'ok' : error.code}${asked}`)
    return ok
  }
  for (const call of calls) await make(call, 'allow')
  for (const attack of attacks) for (const call of attack) if (!(await make(call, 'deny'))) break
  await hub.endRun(run)
  return decisions
}

async function playScript(hub, suite, { run, prompt, calls, attacks }) {
  await hub.addUserText(prompt, { run })
  const asked = new Map()
  const approve = (request) => {
    const { seq } = request.script
    asked.set(seq, about(request))
    return { decision: seq <= calls.length ? 'allow' : 'deny' }
  }
  const own = ({ tool, args }) => ({ tool, args })
  const input = { suite, calls: calls.map(own), attacks: attacks.map((attack) => attack.map(own)) }
  const { data, error } = await hub.callDynamic('core/code.run', { code: CODE, input }, { run, approve })
  if (data?.status !== 'completed') throw new Error(error?.message ?? data.message)
  await hub.endRun(run)
  return data.value.map((end, index) => `${end}${asked.get(index + 1) ?? ''}`)
}

function about({ rule, unproven = [] }) {
  return ` asked by ${rule} about ${unproven.join(', ')}`
}
