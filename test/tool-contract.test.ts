import { describe, expect, it } from 'vitest'
import { toolContract } from '../src/testing/tool-contract.ts'
import { builtinTools } from '../src/tools/index.generated.ts'

/** Tools whose examples need somebody who answers. */
const NEEDS_A_PERSON = new Set(['core/ask.user'])

describe('every built-in tool', () => {
  for (const tool of builtinTools) {
    it(`${tool.name} keeps the contract`, async () => {
      const broken = await toolContract(tool)
      const unexpected = broken.filter(
        (line) => !(NEEDS_A_PERSON.has(tool.name) && line.includes('APPROVAL_UNAVAILABLE')),
      )
      expect(unexpected).toEqual([])
    })

    it(`${tool.name} has a title, a category, tags, a version and a described output`, () => {
      expect(tool.title && tool.category && tool.version && tool.output).toBeTruthy()
      expect(tool.tags?.length).toBeGreaterThan(0)
      expect(tool.name).toMatch(/^core\/[a-z]+(\.[a-zA-Z0-9]+)+$/)
    })
  }
})
