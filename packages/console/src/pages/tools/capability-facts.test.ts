import { expect, it } from 'vitest'
import { CAPABILITIES } from '../../../../core/src/tool.ts'
import { capabilityFacts } from './capability-facts.ts'

const known = CAPABILITIES.map((capability) => ({ capability, ...capabilityFacts(capability) }))

it('gives every capability of the product an icon of its own', () => {
  expect(known.length).toBeGreaterThan(10)
  expect(new Set(known.map(({ icon }) => icon)).size).toBe(known.length)
})

it('describes every capability in words, and warns about an unknown one', () => {
  expect(known.filter(({ capability, words, brief }) => brief === capability || words.includes('unknown'))).toEqual([])
  expect(capabilityFacts('acme:print')).toMatchObject({ tone: 'warn', brief: 'acme:print' })
})
