import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { syncFolder } from './durable-writes.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-sync-'))
  await writeFile(join(folder, 'file'), 'x')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('syncs a folder', async () => {
  await expect(syncFolder(folder)).resolves.toBeUndefined()
})

it('does not fail where the system cannot sync', async () => {
  await expect(syncFolder('/proc/self')).resolves.toBeUndefined()
})

it('tells when the folder is gone', async () => {
  await expect(syncFolder(join(folder, 'gone'))).rejects.toMatchObject({ code: 'ENOENT' })
})
