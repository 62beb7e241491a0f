import { z } from 'zod'
import { defineTool } from '../../dist/index.js'
import { compilePolicy } from '../../dist/policy/compile-policy.js'
import { decide } from '../../dist/policy/decide.js'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { add, dataOf, governedHub } from '../lib/ours.mjs'
import { subjectRules, targetRules } from '../lib/rules.mjs'

const SIZES = [10, 100, 1_000]
const DECISIONS = 5_000
const CALLS = 1_000
const GOAL = 1.5

const visit = defineTool({
  name: 'bench/web.visit',
  description: 'Names a page and touches nothing.',
  input: z.strictObject({ url: z.string() }),
  output: z.strictObject({ url: z.string() }),
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  execute: ({ url }) => ({ url }),
})

/** What 1,000 rules cost more than 10: in a decision alone, and in a whole call that keeps no record. */
export default async function policyCost({ rounds }) {
  return [
    ...(await compare('decide by subject', subjectRules, decideSubject, { rounds })),
    ...(await compare('decide by target', targetRules, decideTarget, { rounds })),
    ...(await compare('call of a pure tool', subjectRules, callPure, { rounds })),
    ...(await compare('call on a target', targetRules, callOnTarget, { rounds })),
  ]
}

async function compare(label, makeRules, contender, { rounds }) {
  const contenders = Object.fromEntries(SIZES.map((size) => [`${size} rules`, contender(makeRules(size))]))
  const samples = await measureInRounds(contenders, { rounds })
  const [few, , many] = SIZES.map((size) => samples[`${size} rules`])
  return [
    ratioFigure(`${label}, 1,000 : 10 rules`, many, few, { goal: GOAL }),
    ...SIZES.map((size) => figure(`${label}, ${size.toLocaleString('en-US')} rules`, samples[`${size} rules`], { unit: 'us' })),
  ]
}

/** Another tool every time, as the memory for repeated questions would answer a repeated one without any rule. */
function decideSubject(rules) {
  const policy = compile(rules)
  let count = 0
  return () =>
    microsecondsEach(DECISIONS, () => {
      const tool = `bench/area${++count}.act`
      return decide(policy, { ...QUESTION, tool, names: [tool] })
    })
}

function decideTarget(rules) {
  const policy = compile(rules)
  const tool = visit.name
  let count = 0
  return () =>
    microsecondsEach(DECISIONS, () => {
      const targets = [{ capability: 'network', value: nextUrl(++count) }]
      return decide(policy, { ...QUESTION, tool, names: [tool], capabilities: ['network'], targets })
    })
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
  return compilePolicy({ owner: rules.map((rule, index) => ({ rule, source: { file: 'bench', line: index }, base: '/' })) })
}

/** Host 1 is one that every size of `targetRules` allows; the page is new every time. */
function nextUrl(count) {
  return `https://host1.example.org/items/${count}`
}
