import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { RunIndexer } from '@tool-hub/runtime/hub'
import { expect, it, onTestFinished } from 'vitest'
import { createCallHistory } from '../packages/server/src/services/call-history.ts'
import { addLine, openSharedStore, sharedHub } from './support/shared-hub.ts'
import { sharedText } from './support/shared-records.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

it('shows, verifies and removes a run that another machine has, without its files', async () => {
  const base = temporaryFolder('shared-service')
  const stores = [openSharedStore(join(base, 'store')), openSharedStore(join(base, 'store'))] as const
  const [one, two] = stores.map((store, index) => {
    const folder = join(base, `machine-${index}`)
    const hub = sharedHub(folder, store, { run: `own-${index}` })
    const runsFolder = join(folder, 'runs')
    const indexer = new RunIndexer({ runsFolder, calls: store.calls })
    return { hub, store, indexer, history: createCallHistory({ hub, store, runsFolder, indexer }) }
  })
  onTestFinished(async () => {
    await Promise.all([one!.hub.close(), two!.hub.close()])
    await Promise.all(stores.map((store) => store.close()))
  })
  const { callId } = await one!.hub.call(addLine, { path: 'a.txt', line: 'one' }, { run: 'r' })
  await one!.hub.endRun('r')
  await one!.indexer.reindex()
  const lines = await two!.history.lines('r', { after: 0, limit: 100 })
  expect(lines.map(({ type }) => type)).toEqual([
    ...['run-opened', 'call-started', 'file-changing', 'call-ended', 'run-closed'],
  ])
  expect((await two!.history.call(callId)).lines).toHaveLength(3)
  expect(await text(await two!.history.export('r'))).toBe(await sharedText(two!.store, 'r'))
  expect(await two!.history.verify({ run: 'r' })).toMatchObject({ ok: true, runs: [{ run: 'r', state: 'intact' }] })
  expect(await two!.history.verify({ only: 'missing' })).toMatchObject({ ok: true, runs: [] })
  await one!.history.remove('r', { by: 'ada' })
  expect(await sharedText(two!.store, 'r')).toBe('')
  expect(await two!.history.verify({ only: 'missing' })).toMatchObject({ ok: true, runs: [] })
})
