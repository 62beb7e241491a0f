import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { secretsOf } from '@tool-hub/runtime/hub'
import { afterEach, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { loadConfig } from './load-config.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

async function load(text: string) {
  const folder = temporaryFolder('config-records')
  await writeFile(path.join(folder, 'tool-hub.yaml'), text)
  return loadConfig({ cwd: folder })
}

const BUCKET = `durability: shared
secrets: { s3: { env: RECORDS_TEST_KEY, hosts: [s3.example.org] } }
records:
  bucket:
    url: https://s3.example.org/hub
    region: eu-central-1
    accessKeyId: \${env:RECORDS_TEST_ID}
    secretAccessKey: \${secret:s3}
`

it('fills in the references of a bucket, and hides its key', async () => {
  vi.stubEnv('RECORDS_TEST_ID', 'AK1')
  vi.stubEnv('RECORDS_TEST_KEY', 'the key of the bucket')
  const { options } = await load(BUCKET)
  expect(options.durability).toBe('shared')
  expect(options.records?.bucket).toEqual({
    url: 'https://s3.example.org/hub',
    region: 'eu-central-1',
    accessKeyId: 'AK1',
    secretAccessKey: 'the key of the bucket',
  })
  expect(secretsOf({ records: options.records }).values).toEqual(['the key of the bucket'])
})

it('refuses a key in the file, and a reference to nothing, with the line', async () => {
  await expect(load(BUCKET.replace('${secret:s3}', 'plain-key'))).rejects.toThrow('never stands in a config')
  vi.stubEnv('RECORDS_TEST_KEY', 'k')
  await expect(load(BUCKET)).rejects.toThrow(/accessKeyId.*RECORDS_TEST_ID/s)
})
