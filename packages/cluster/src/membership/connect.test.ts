import { createHub } from '@tool-hub/runtime/hub'
import { expect, it } from 'vitest'
import { sharedMemoryStore } from '../../../../test/support/local-queue.ts'
import { connectMachines } from './connect.ts'

const lists = { builtins: [], features: [], tables: [] }

it('refuses a store that machines share for a hub that is not connected with them', async () => {
  const { store } = sharedMemoryStore()
  expect(() => createHub({ store, runs: false }, lists)).toThrow('cannot share a store')
  await store.close()
})

it('refuses a bucket that has no address, before anything is written', async () => {
  const { store } = sharedMemoryStore()
  const bucket = { url: 'ftp://example.org/records', region: 'eu', accessKeyId: 'a', secretAccessKey: 'b' }
  const open = () => createHub({ store, records: { bucket } }, { ...lists, machines: connectMachines })
  expect(open).toThrow('records.bucket.url')
  await store.close()
})

it('offers a hub with a store of its own no other machine', async () => {
  const hub = createHub({ runs: false }, { ...lists, machines: connectMachines })
  expect(hub).toMatchObject({ cluster: undefined, sharing: undefined, sharedRecords: undefined })
  expect(await hub.workers()).toEqual({ queues: [], workers: [] })
  await expect(hub.work()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  await hub.close()
})
