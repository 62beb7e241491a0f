import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import type { Hub } from './hub.ts'

function open(options: HubOptions = {}) {
  const folder = temporaryFolder('deliverables')
  const hub: Hub = createToolHub({ runs: join(folder, 'runs'), data: join(folder, 'data'), run: 'run-1', ...options })
  onTestFinished(() => hub.close({ abort: true }))
  const write = (path: string) => hub.callDynamic('write_file', { path, content: 'x' })
  return { hub, folder, results: join(folder, 'runs/run-1/deliverables'), write }
}

it('does not follow a link that is in the place of the deliverables', async () => {
  const { hub, folder, results, write } = open()
  expect((await write('../deliverables/a.md')).ok).toBe(true)
  await hub.endRun('run-1')
  rmSync(results, { recursive: true })
  const elsewhere = temporaryFolder('elsewhere')
  symlinkSync(elsewhere, results)
  expect((await write('../deliverables/b.md')).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
  expect((await write(join(results, 'b.md'))).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
  expect(existsSync(join(elsewhere, 'b.md'))).toBe(false)
  expect((await write('c.md')).ok).toBe(true)
  expect(readFileSync(join(folder, 'runs/run-1/workspace/c.md'), 'utf8')).toBe('x')
})

it('does not follow a link within the deliverables that leads outside', async () => {
  const { hub, results, write } = open()
  await write('../deliverables/a.md')
  const elsewhere = temporaryFolder('elsewhere')
  symlinkSync(elsewhere, join(results, 'out'))
  expect((await write('../deliverables/out/b.md')).ok).toBe(false)
  expect((await hub.callDynamic('list_files', { path: '../deliverables/out' })).ok).toBe(false)
  expect(existsSync(join(elsewhere, 'b.md'))).toBe(false)
})

it('takes back what was written to the deliverables', async () => {
  const { hub, results, write } = open()
  await write('../deliverables/a.md')
  expect(existsSync(join(results, 'a.md'))).toBe(true)
  await hub.undo({ run: 'run-1' })
  expect(existsSync(join(results, 'a.md'))).toBe(false)
})

it('opens deliverables by their path alone where the owner names the folder to work on', async () => {
  const root = temporaryFolder('root')
  const { hub, results, write } = open({ sandbox: { root } })
  expect((await write('a.md')).ok).toBe(true)
  expect((await write('../deliverables/a.md')).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
  expect((await write(join(results, 'a.md'))).ok).toBe(true)
  expect(existsSync(join(results, 'a.md'))).toBe(true)
  // A command has the folder to work on, and nothing else.
  hub.setPolicy([{ allow: 'exec' }])
  expect((await hub.callDynamic('run_shell', { command: `echo x > ${results}/b.md` })).ok).toBe(false)
  expect(existsSync(join(results, 'b.md'))).toBe(false)
})

it('does not follow links of the deliverables of a shared folder', async () => {
  const root = temporaryFolder('root')
  const { hub, results, write } = open({ sandbox: { root } })
  const elsewhere = temporaryFolder('elsewhere')
  await write(join(results, 'a.md'))
  symlinkSync(elsewhere, join(results, 'out'))
  expect((await write(join(results, 'out/b.md'))).ok).toBe(false)
  await hub.endRun('run-1')
  rmSync(results, { recursive: true })
  symlinkSync(elsewhere, results)
  for (const path of [join(results, 'b.md'), join(elsewhere, 'b.md')])
    expect((await write(path)).error?.code, path).toBe('PATH_OUTSIDE_SANDBOX')
  expect(existsSync(join(elsewhere, 'b.md'))).toBe(false)
})

it('takes back what another run of a shared folder has delivered', async () => {
  const root = temporaryFolder('root')
  const { hub, folder } = open({ sandbox: { root } })
  const path = join(folder, 'runs/run-2/deliverables/a.md')
  expect((await hub.callDynamic('write_file', { path, content: 'x' }, { run: 'run-2' })).ok).toBe(true)
  expect(await hub.undo({ run: 'run-2' })).toMatchObject({ ok: true })
  expect(existsSync(path)).toBe(false)
})
