import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../test/support/sandbox-spec.ts'
import { browserSandbox, browserUser } from './start-chromium.ts'

const NONE = { sandbox: 'none', level: 'none', why: 'x' } as const

describe.runIf(process.platform === 'linux')('the sandbox of a browser', () => {
  it('bounds files and processes, and leaves addresses to V8', async () => {
    const folder = await folderWith()
    const launch = await browserSandbox({ chosen: NONE, executable: '/usr/bin/x', folder, downloadBytes: 200_000_000 })
    expect(launch.limits).toEqual({
      cpuSeconds: Number.POSITIVE_INFINITY,
      memoryBytes: 4_000_000_000,
      processes: 1_024,
      fileBytes: 200_000_000,
      openFiles: 4_096,
    })
    expect(launch.env).toMatchObject({ HOME: folder })
    const small = await browserSandbox({ chosen: NONE, executable: '/usr/bin/x', folder, downloadBytes: 1 })
    expect(small.limits.fileBytes).toBe(100_000_000)
  })

  it('shows the folder of a browser that is not of the system', async () => {
    const folder = await folderWith()
    const program = await folderWith({ chrome: '' })
    const chosen = { sandbox: 'command', level: 'full', why: 'x' } as const
    const words = async (executable: string) =>
      (await browserSandbox({ chosen, executable, folder, downloadBytes: 1 })).args.join(' ')
    expect(await words(`${program}/chrome`)).toContain(` --ro-bind ${program} ${program} `)
    expect(await words('/usr/bin/chromium')).not.toContain('/usr/bin/chromium')
    expect(await words('/usr/bin/chromium')).toContain(` --bind ${folder} ${folder} `)
  })

  it.runIf(process.geteuid?.() === 0)('is run by nobody where the hub is root', async () => {
    expect(browserUser('/usr/bin/x')).toEqual({ uid: 65_534, gid: 65_534 })
    expect(browserUser('/no/such/folder/x')).toBeUndefined()
  })
})
