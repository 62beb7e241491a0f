import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { type CliFolder, cliFolder } from '../../../../../test/support/cli.ts'

let folder: CliFolder
afterEach(() => folder.remove())

describe('tool-hub store check', () => {
  it('exits 1 for an older store in place of a newer one, until it is adopted', async () => {
    folder = cliFolder()
    const data = join(folder.path, '.tool-hub')
    for (const id of ['first', 'second']) {
      const store = openStore(data)
      await store.grants.put({ id, tool: 't', body: '{}', createdAt: 1 })
      await store.close()
      if (id === 'first') copyFileSync(join(data, 'store.db'), join(folder.path, 'copy.db'))
    }
    expect((await folder.run(['store', 'check'])).code).toBe(0)
    copyFileSync(join(folder.path, 'copy.db'), join(data, 'store.db'))
    const check = await folder.run(['store', 'check'])
    expect(check).toMatchObject({ code: 1, stderr: expect.stringContaining('is older than it was') })
    expect(check.stderr).toContain('tool-hub store adopt')
    expect((await folder.run(['store', 'adopt'])).code).toBe(0)
    expect((await folder.run(['store', 'check'])).code).toBe(0)
  })

  it('exits 1 for a missing and for an empty store beside runs', async () => {
    folder = cliFolder()
    const file = join(folder.path, '.tool-hub', 'store.db')
    expect((await folder.run(['call', 'core/util.time.now'])).code).toBe(0)
    const store = openStore(join(folder.path, '.tool-hub'))
    await store.check()
    await store.close()
    expect((await folder.run(['store', 'check'])).code).toBe(0)
    writeFileSync(file, '')
    const lost = { code: 1, stderr: expect.stringContaining('is missing or empty') }
    expect(await folder.run(['store', 'check'])).toMatchObject(lost)
    rmSync(file)
    expect(await folder.run(['store', 'check'])).toMatchObject(lost)
  })

  it('exits 1 for the new store that a service made in place of a lost one, until it is adopted', async () => {
    folder = cliFolder()
    const data = join(folder.path, '.tool-hub')
    expect((await folder.run(['call', 'core/util.time.now'])).code).toBe(0)
    rmSync(data, { recursive: true })
    const service = folder.start(['serve', '--port', '0'])
    await service.says('is ready at')
    const lost = {
      code: 1,
      stderr: expect.stringMatching(/is new, although there were runs[\s\S]*tool-hub store adopt/),
    }
    expect(await folder.run(['store', 'check'])).toMatchObject(lost)
    service.child.kill('SIGTERM')
    await service.ended
    expect((await folder.run(['call', 'core/util.time.now'])).code).toBe(0)
    expect(await folder.run(['store', 'check'])).toMatchObject(lost)
    expect((await folder.run(['store', 'adopt'])).code).toBe(0)
    expect((await folder.run(['store', 'check'])).code).toBe(0)
  })

  it('adopt creates a new store in place of one that was lost with its folder', async () => {
    folder = cliFolder()
    expect((await folder.run(['call', 'core/util.time.now'])).code).toBe(0)
    rmSync(join(folder.path, '.tool-hub'), { recursive: true })
    expect((await folder.run(['store', 'check'])).code).toBe(1)
    expect((await folder.run(['store', 'adopt'])).code).toBe(0)
    expect((await folder.run(['store', 'check'])).code).toBe(0)
  })
})
