import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { expect, it, onTestFinished } from 'vitest'
import { POLICY_YAML } from '../../../test/support/policy-yaml.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { loadConfig } from './load-config.ts'

async function load(files: Readonly<Record<string, string>>, name: string) {
  const folder = temporaryFolder('policy')
  mkdirSync(join(folder, 'project'))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, 'project', file), text)
  const loaded = await loadConfig({ file: join(folder, 'project', name), home: join(folder, 'project') })
  const hub = createToolHub({ ...loaded.options, approve: () => ({ decision: 'deny' }) })
  onTestFinished(() => hub.close())
  return { ...loaded, hub, folder }
}

it('reads what allowed_paths of a policy.yaml names, letter for letter', async () => {
  const elsewhere = temporaryFolder('elsewhere')
  writeFileSync(join(elsewhere, 'b.txt'), 'from elsewhere')
  const policy = POLICY_YAML.replace('"/tmp/"', JSON.stringify(`${elsewhere}/`))
  const { hub, warnings } = await load({ 'policy.yaml': policy, 'a.txt': 'here', 'x.key': 'secret' }, 'policy.yaml')
  const read = (path: string) => hub.callDynamic('read_file', { path })
  expect((await read('a.txt')).data).toMatchObject({ text: 'here' })
  expect((await read(join(elsewhere, 'b.txt'))).data).toMatchObject({ text: 'from elsewhere' })
  expect((await read('x.key')).ok).toBe(false)
  expect((await read('/etc/hostname')).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
  expect((await hub.callDynamic('search_files', { pattern: '^here' })).content).toMatchObject([
    { text: 'a.txt:1:here' },
  ])
  expect((await hub.callDynamic('write_file', { path: 'new.txt', content: 'x' })).error?.code).toBe('APPROVAL_DENIED')
  const outside = await hub.callDynamic('write_file', { path: join(elsewhere, 'new.txt'), content: 'x' })
  expect(outside.error?.code).toBe('PATH_DENIED')
  expect(warnings).toEqual([])
})

it('opens nothing beside a sandbox that the owner names, and reports what lies outside of it', async () => {
  const config = 'policy: ./policy.yaml\nsandbox: { root: . }\n'
  const { options, warnings } = await load({ 'tool-hub.yaml': config, 'policy.yaml': POLICY_YAML }, 'tool-hub.yaml')
  expect(options.sandbox?.roots).toBeUndefined()
  expect(warnings.join()).toMatch(/policy\.yaml:13.* allowed_paths: "\/tmp\/" lies outside of sandbox\.root/)
})

it('makes the folder of the file no root where tools that it does not name would write there unasked', async () => {
  const open = 'tools:\n  read_file: { action: allow, constraints: { allowed_paths: ["./", "./missing/*.md"] } }\n'
  const { options, folder, warnings } = await load({ 'policy.yaml': open }, 'policy.yaml')
  expect(options.sandbox?.root).toBeUndefined()
  expect(options.sandbox?.roots).toEqual([{ path: join(folder, 'project'), mode: 'read' }])
  expect(warnings.join()).toContain('"./missing/*.md" does not exist')
})
