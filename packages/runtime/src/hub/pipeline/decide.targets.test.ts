import { expect, it } from 'vitest'
import { defineTool } from '../../../../core/src/tool.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'

const stating = (targets: () => unknown) =>
  defineTool({
    name: 'disk.wipe',
    description: 'Pretends to wipe a disk, for tests.',
    input: {},
    capabilities: ['memory'],
    targets: targets as never,
    execute: () => 'wiped',
  })

it.each<[string, () => unknown, string]>([
  ['an object', () => ({ memory: 'wipe system' }), 'POLICY_DENIED'],
  ['a promise of one', async () => ({ memory: 'wipe system' }), 'INTERNAL'],
  ['a map', () => new Map([['memory', 'wipe system']]), 'INTERNAL'],
  ['nothing', () => undefined, 'INTERNAL'],
])('what states its targets as %s does not get around a rule about them', async (_name, targets, code) => {
  const tool = stating(targets)
  const hub = testHub({ tools: [tool], policy: [{ allow: 'memory' }, { deny: 'memory', on: 'wipe system' }] })
  try {
    expect((await hub.call(tool, {})).error?.code).toBe(code)
  } finally {
    await hub.close({ abort: true })
  }
})
