import { expect, it } from 'vitest'
import { readDefinitions } from './read-definitions.ts'

it('leaves out a tool with a number that cannot be written again, and no other', () => {
  const numbers = {
    properties: { b: { maximum: Number.POSITIVE_INFINITY }, a: { default: [Number.NEGATIVE_INFINITY] } },
  }
  const { definitions, leftOut } = readDefinitions([
    { name: 'good', inputSchema: { properties: { a: { maximum: 1e300 } } } },
    { name: 'input', inputSchema: numbers },
    { name: 'output', outputSchema: numbers },
    { name: 'annotations', annotations: numbers },
  ])
  expect(definitions.map(({ tool }) => tool)).toEqual(['good'])
  expect(leftOut.map(({ tool }) => tool)).toEqual(['input', 'output', 'annotations'])
  expect(leftOut[0]!.why).toContain('a number that no JSON can hold')
})
