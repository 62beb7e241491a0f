import { builtinTools } from '@tool-hub/library/builtin-tools'
import { expect, it } from 'vitest'
import type { Rule } from '../../../../core/src/principal.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { Registry } from '../../../../runtime/src/hub/pipeline/registry.ts'
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

it('shows what the exceptions of a deny get, and the deny beside it, before a target is known', () => {
  const policy: Rule[] = [{ allow: 'read_file' }, { deny: 'read_file', except: ['./', '/tmp/'] }]
  const registry = new Registry()
  registry.register(builtinTools.find(({ name }) => name === 'core/fs.readText')!)
  const [tool] = registry.list()
  const { effect, capabilities } = judgeTools({ policy })(tool!)
  expect(effect).toBe('allow')
  expect(capabilities).toMatchObject([
    { capability: 'read:fs', effect: 'allow', but: expect.stringMatching(/^elsewhere deny read_file except/) },
  ])
  const closed = judgeTools({ policy: [{ deny: 'read_file' }, ...policy] })(tool!)
  expect(closed).toMatchObject({ effect: 'deny', capabilities: [{ effect: 'deny' }] })
  expect(closed.capabilities[0]!.but).toBeUndefined()
})

it('judges a known target by the exceptions themselves', () => {
  const rules: Rule[] = [{ allow: 'remote' }, { deny: 'remote', except: 'mcp:docs/*' }]
  expect(judge(rules, () => ({ remote: 'mcp:docs/find' })).effect).toBe('allow')
  expect(judge(rules, () => ({ remote: 'mcp:other/find' })).effect).toBe('deny')
})
