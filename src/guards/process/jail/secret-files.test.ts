import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../../../../test/support/jail-spec.ts'
import { findSecretFiles } from './secret-files.ts'

it('finds files that look like secrets, and nothing made to be seen', async () => {
  const secrets = ['.env', '.env.production', '.netrc', 'a/id_rsa', 'a/server.key', 'a/b/.envrc', 'a/b/cert.PEM']
  const others = ['.env.example', '.env.local.sample', 'a/id_rsa.pub', 'a/keys.ts', 'environment', 'a/.envoy/x']
  const skipped = ['.git/x.pem', 'node_modules/p/test.key']
  const folder = await folderWith(
    Object.fromEntries([...secrets, ...others, ...skipped, '.ssh/known'].map((name) => [name, ''])),
  )
  await symlink('/etc', join(folder, 'outside'))
  await symlink('/etc/hosts', join(folder, 'linked.pem'))
  const { files, isComplete } = await findSecretFiles([folder, folder])
  expect(files.toSorted()).toEqual([...secrets, '.ssh'].map((name) => join(folder, name)).toSorted())
  expect(isComplete).toBe(true)
})

it('stops at its limits, and says so', async () => {
  const folder = await folderWith(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.pem`, ''])))
  expect(await findSecretFiles([folder], { maxEntries: 5 })).toMatchObject({ isComplete: false, files: { length: 5 } })
  expect(await findSecretFiles([folder], { maxFound: 3 })).toMatchObject({ isComplete: false, files: { length: 3 } })
  await expect(findSecretFiles([folder], { signal: AbortSignal.abort() })).rejects.toThrow()
})

it('finds nothing where there is nothing', async () => {
  expect(await findSecretFiles(['/does/not/exist'])).toMatchObject({ files: [], isComplete: true })
})
