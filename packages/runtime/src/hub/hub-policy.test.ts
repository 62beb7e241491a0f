import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { loadConfig } from '../../../config/src/load-config.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'

const explainWrite = async (options: HubOptions, path = 'src/x.ts') => {
  const hub = testHub(options)
  try {
    return await hub.explain('core/fs.writeText', { path, text: 'x' })
  } finally {
    await hub.close()
  }
}

it('the reason about a path that the rules leave out names the nearest rule and the paths it allows', async () => {
  const root = temporaryFolder('narrow')
  const policy = [
    { allow: 'write:fs', on: ['/elsewhere/**', './src/**'] },
    { allow: 'write:fs', on: join(root, 'docs') },
  ] as const
  const { reason, decision } = await explainWrite({ sandbox: { root }, policy })
  expect(reason).toContain(`allow write:fs on ${root}/docs (policy[1]): it allows ${root}/docs/**.`)
  expect(decision?.fix.hint).toContain('to the policy option of createToolHub.')
  const relative = await explainWrite({ sandbox: { root }, policy: policy.slice(0, 1) }, 'a.ts')
  expect(relative.reason).toMatch(/The nearest one is .* \(policy\[0\]\): it allows \/.*\*\*\.$/)
})

it('a fix says where rules are added: in the code that creates the hub, or in the config that it was made from', async () => {
  const ask = async (options: HubOptions) => {
    const hub = testHub(options)
    const { decision } = await hub.explain('core/exec.run', { command: 'ls' })
    await hub.close()
    return decision?.fix.hint
  }
  const folder = temporaryFolder('configured')
  const { options } = await loadConfig({ cwd: folder })
  expect(await ask({})).toContain(' to the policy option of createToolHub')
  expect(await ask({ policy: [{ ask: 'exec' }] })).toContain(' to the policy option of createToolHub')
  expect(await ask({ ...options, data: ':memory:' })).toContain(' to policy in tool-hub.yaml')
})
