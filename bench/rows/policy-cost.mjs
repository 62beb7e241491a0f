import { z } from 'zod'
import { defineTool } from '../../packages/tool-hub/dist/index.js'
import '../../test/support/load-typescript.mjs'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, microsecondsEach, microsecondsEachSync, millisecondsOf } from '../lib/measure.mjs'
import { add, dataOf, governedHub } from '../lib/ours.mjs'
import { alikeRules, subjectRules, targetRules } from '../lib/rules.mjs'

const { compilePolicy } = await import('../../packages/policy/src/compile-policy.ts')
const { decide } = await import('../../packages/policy/src/decide/decide.ts')

const SIZES = [10, 100, 1_000]
const DECISIONS = 2_000
const CALLS = 1_000
const GOAL = 1.5

/** What a very large installation has: rules, and tools. */
const MANY = 10_000
const MANY_DECISIONS = 100

const visit = defineTool({
  name: 'bench/web.visit',
  description: 'Names a page and touches nothing.',
  input: z.strictObject({ url: z.string() }),
  output: z.strictObject({ url: z.string() }),
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  execute: ({ url }) => ({ url }),
})

/** What 1,000 rules cost more than 10, in a decision alone and in a whole call that keeps no record; and what 10,000 cost. */
export default async function policyCost({ rounds }) {
  return [
    ...(await compare('decide by subject', subjectRules, decideSubject, { rounds })),
    ...(await compare('decide by URL', targetRules, decideTarget('network', nextUrl), { rounds })),
    ...(await compare('decide by command, rules alike', alikeRules, decideTarget('exec', nextCommand), { rounds })),
    ...(await compare('decide by text, rules alike', alikeRules, decideTarget('memory', nextNote), { rounds })),
    ...(await compare('call of a pure tool', subjectRules, callPure, { rounds })),
    ...(await compare('call on a target', targetRules, callOnTarget, { rounds })),
    ...(await measureWhere({ rounds })),
    ...(await measureMany({ rounds })),
  ]
}

/** What rules about arguments add to a call: one that its arguments match, and one that they do not. */
async function measureWhere({ rounds }) {
  const plain = subjectRules(100)
  const hubs = {
    without: governedHub({ runs: false, policy: plain }),
    where: governedHub({
      runs: false,
      policy: [...plain, { ask: add.name, where: { a: { min: 1e9 } } }, { allow: add.name, where: { b: [1, 2, 3] } }],
    }),
  }
  let a = 0
  const samples = await measureInRounds(
    {
      without: () => microsecondsEach(CALLS, () => dataOf(hubs.without.call(add, { a: ++a, b: 1 }))),
      where: () => microsecondsEach(CALLS, () => dataOf(hubs.where.call(add, { a: ++a, b: 1 }))),
    },
    { rounds },
  )
  await Promise.all([hubs.without.close(), hubs.where.close()])
  const added = samples.where.map((cost, round) => cost - samples.without[round])
  return [figure('call with rules about its arguments, over one without', added, { unit: 'us', goal: 2 })]
}

/** A command that no rule names is the worst: a rule that would allow it is tried. Unknown names are compared with all known ones. */
async function measureMany({ rounds }) {
  const policy = compile(Array.from({ length: MANY }, (_, index) => ({ allow: 'exec', on: `tool${index} verb *` })))
  const question = { ...QUESTION, tool: 'bench/act', names: ['bench/act'], capabilities: ['exec'] }
  const checked = governedHub({ runs: false, policy: subjectRules(MANY) })
  const tools = Array.from({ length: MANY }, (_, index) => ({ ...add, name: `acme/area${index}.doThing` }))
  const large = governedHub({ runs: false, tools })
  let count = 0
  const samples = await measureInRounds(
    {
      command: () =>
        microsecondsEachSync(MANY_DECISIONS, () =>
          decide(policy, { ...question, targets: [{ capability: 'exec', value: `other run item${++count}` }] }),
        ),
      check: () => millisecondsOf(() => checked.check()),
      unknown: () => millisecondsOf(() => refused(large.call(`acme/area${++count}.doThong`, {}))),
    },
    { rounds },
  )
  await Promise.all([checked.close(), large.close()])
  return [
    figure('a command that none of 10,000 rules names', samples.command, { unit: 'us', goal: 1_000 }),
    figure('hub.check of 10,000 rules', samples.check, { unit: 'ms', goal: 500 }),
    figure('an unknown name among 10,000 tools', samples.unknown, { unit: 'ms', goal: 5 }),
  ]
}

async function refused(call) {
  const { ok, error } = await call
  if (ok || error.code !== 'TOOL_NOT_FOUND') throw new Error('expected an unknown tool')
}

async function compare(label, makeRules, contender, { rounds }) {
  const contenders = Object.fromEntries(SIZES.map((size) => [`${size} rules`, contender(makeRules(size))]))
  const samples = await measureInRounds(contenders, { rounds })
  const [few, , many] = SIZES.map((size) => samples[`${size} rules`])
  return [
    ratioFigure(`${label}, 1,000 : 10 rules`, many, few, { goal: GOAL }),
    ...SIZES.map((size) =>
      figure(`${label}, ${size.toLocaleString('en-US')} rules`, samples[`${size} rules`], { unit: 'us' }),
    ),
  ]
}

/** With grants, since the memory for repeated questions would answer one without them before any rule is looked at. */
function decideSubject(rules) {
  const policy = compile(rules)
  const question = { ...QUESTION, tool: add.name, names: [add.name], grants: [] }
  return () => microsecondsEachSync(DECISIONS, () => decide(policy, question))
}

function decideTarget(capability, nextTarget) {
  return (rules) => {
    const policy = compile(rules)
    const question = { ...QUESTION, tool: 'bench/act', names: ['bench/act'], capabilities: [capability] }
    let count = 0
    return () =>
      microsecondsEachSync(DECISIONS, () =>
        decide(policy, { ...question, targets: [{ capability, value: nextTarget(++count) }] }),
      )
  }
}

function callPure(rules) {
  const hub = governedHub({ runs: false, policy: rules })
  let a = 0
  return () => microsecondsEach(CALLS, () => dataOf(hub.call(add, { a: ++a, b: 1 })))
}

function callOnTarget(rules) {
  const hub = governedHub({ runs: false, policy: rules, tools: [visit], sandbox: { network: ['*.example.org'] } })
  let count = 0
  return () => microsecondsEach(CALLS, () => dataOf(hub.call(visit, { url: nextUrl(++count) })))
}

const QUESTION = { groups: ['group:bench'], capabilities: [], targets: [], caller: 'direct', tainted: false }

function compile(rules) {
  return compilePolicy({
    owner: rules.map((rule, index) => ({ rule, source: { file: 'bench', line: index }, base: '/' })),
  })
}

/** The first rules of every size are about these; the rest of the target is new every time. */
function nextUrl(count) {
  return `https://host1.example.org/items/${count}`
}

function nextCommand(count) {
  return `git verb0 item${count}`
}

function nextNote(count) {
  return `notes1/item${count}`
}
