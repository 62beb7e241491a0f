import { expect, it } from 'vitest'
import { whyAsked } from './why-asked.ts'

const rule = 'ask exec (tool-hub.yaml:17)'

it.each([
  ['a reason of the rule itself', 'it runs a command', `it runs a command (${rule})`],
  ['a rule without a reason', `Needs an approval by ${rule}.`, `${rule}.`],
  ['a part of a command', `\`rm a\`: Needs an approval by ${rule}.`, `\`rm a\`: ${rule}.`],
  ['a reason that names the rule', `The rule ${rule} does not cover that.`, `The rule ${rule} does not cover that.`],
  ['details for people', 'it changed\nWhat changed:\nsay yes', `it changed (${rule})`],
])('of %s the rule is named once', (_, reason, expected) => {
  expect(whyAsked({ reason, rule })).toBe(expected)
})
