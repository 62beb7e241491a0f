import { expect, it } from 'vitest'
import { defineTool } from '../../define.ts'
import type { Rule } from '../../rule.ts'
import { Registry } from '../../steps/registry.ts'
import { judgeTools } from './judge-tool.ts'

function judge(policy: readonly Rule[], targets: () => { remote: string | string[] }) {
  const registry = new Registry()
  const input = { type: 'object' } as const
  registry.register(
    defineTool({
      name: 'mcp/docs.find',
      description: 'x',
      input,
      capabilities: ['remote'],
      targets,
      execute: () => '',
    }),
  )
  return judgeTools({ policy })(registry.list()[0]!)
}

it('judges a tool of somebody else on the one target it has', () => {
  const rule = { allow: 'remote', on: 'mcp:docs/*' } as const
  expect(judge([rule], () => ({ remote: 'mcp:docs/find' })).effect).toBe('allow')
  expect(judge([rule], () => ({ remote: 'mcp:other/find' })).effect).toBe('ask')
  expect(judge([], () => ({ remote: [] })).effect).toBe('allow')
  const needy = () => {
    throw new Error('arguments, please')
  }
  expect(judge([], needy).effect).toBe('ask')
})
