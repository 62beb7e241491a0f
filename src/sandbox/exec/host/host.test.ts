import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { privateFolder } from './host.ts'

const OWN = new URL('./host.ts', import.meta.url).href

it('sweeps what a killed hub has left, and nothing of one that runs', async () => {
  const above = dirname(privateFolder())
  // No process has this number: it is over what Linux gives.
  const left = join(above, 'tool-hub-sandbox-4194999-left')
  const used = join(above, `tool-hub-sandbox-${process.ppid}-used`)
  await Promise.all([mkdir(join(left, 'browser-x/profile'), { recursive: true }), mkdir(used)])
  // As the next process has it.
  const next: typeof import('./host.ts') = await import(`${OWN}?next`)
  expect(next.privateFolder()).not.toBe(privateFolder())
  expect([existsSync(left), existsSync(used), existsSync(privateFolder())]).toEqual([false, true, true])
  await rm(used, { recursive: true })
})
