import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { privateFolder } from './private-folder.ts'

const OWN = new URL('./private-folder.ts', import.meta.url).href

it('sweeps what a killed hub has left, and nothing of one that runs', async () => {
  const above = dirname(privateFolder())
  // No process has this number: it is over what Linux gives.
  const left = join(above, 'tool-hub-sandbox-4194999-left')
  const used = join(above, `tool-hub-sandbox-${process.ppid}-used`)
  await Promise.all([mkdir(join(left, 'browser-x/profile'), { recursive: true }), mkdir(used)])
  // As the next process has it.
  const next: typeof import('./private-folder.ts') = await import(`${OWN}?next`)
  expect(next.privateFolder()).not.toBe(privateFolder())
  expect([existsSync(left), existsSync(used), existsSync(privateFolder())]).toEqual([false, true, true])
  await rm(used, { recursive: true })
})

it('uses the folder for temporary files where the own folder in /run is hidden, as ProtectHome of systemd does', async () => {
  const script = `import(${JSON.stringify(OWN)}).then(({ privateFolder }) => console.log(privateFolder()))`
  const { stdout } = await promisify(execFile)('bwrap', [
    ...['--unshare-user', '--uid', '10001', '--gid', '10001', '--dev-bind', '/', '/'],
    ...['--tmpfs', '/run', '--perms', '0000', '--tmpfs', '/run/user', '--', process.execPath],
    ...['--import', resolve('test/support/load-typescript.mjs'), '-e', script],
  ])
  expect(dirname(stdout)).toBe(tmpdir())
})
