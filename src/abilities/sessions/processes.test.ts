import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SessionStatus } from '../../contracts/sessions.ts'
import { createToolHub } from '../../create-tool-hub.ts'
import { openStore } from '../../store/sqlite/open-store.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, '../../../test/support/load-typescript.mjs')).href
const from = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-sessions-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('sessions of a hub that was killed end with a reason, whoever waits for them hears of it, and no message is read twice', async () => {
  const child = startHub(`
    const run = async ({ messages, say }) => {
      for await (const { text } of messages()) console.log('read ' + text)
      return ''
    }
    const hub = createToolHub({ ...shared, sessions: { runners: { default: { run } } } })
    const { data } = await hub.callDynamic('core/session.spawn', { task: 'x', label: 'x' }, { run: 'there' })
    console.log(data.session.id)`)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const id = (await lines.next()).value as string
  const store = openStore(join(folder, 'data'))
  const hub = createToolHub({ store, runs: join(folder, 'runs'), data: join(folder, 'data') })
  try {
    const { sessions } = await hub.sessions.list()
    expect(sessions).toMatchObject([
      { id, state: 'running' },
      { id: 'there', state: 'running' },
    ])
    for (let n = 0; n < 5; n++) await hub.sessions.send(id, { text: `m${n}`, by: 'ada' })
    const read: string[] = []
    for (let n = 0; n < 5; n++) read.push((await lines.next()).value as string)
    expect(read).toEqual(['read m0', 'read m1', 'read m2', 'read m3', 'read m4'])
    const waiting = hub.sessions.send(id, { text: 'Well?', by: 'ada', waitMs: 60_000 })
    await lines.next()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await waiting).toMatchObject({
      status: 'ended',
      state: 'failed',
      reason: expect.stringMatching(/process.*gone/),
    })
    const states = (await hub.sessions.list()).sessions.map(({ state, reason }) => [state, reason])
    expect(states).toEqual([
      ['failed', 'The process that it lived in is gone.'],
      ['ended', 'The process that it lived in is gone.'],
    ])
    const again = await hub.callDynamic('core/session.status', {}, { run: 'there' })
    expect((again.data as SessionStatus).children).toMatchObject([{ id, state: 'failed' }])
  } finally {
    child.kill('SIGKILL')
    await hub.close()
    await store.close()
  }
})

function startHub(script: string) {
  const source = `
    import { createToolHub } from ${from('../../create-tool-hub.ts')}
    import { openStore } from ${from('../../store/sqlite/open-store.ts')}
    const folder = ${JSON.stringify(folder)}
    const approve = () => ({ decision: 'allow' })
    const shared = { store: openStore(folder + '/data', { pollMs: 20 }), runs: folder + '/runs', data: folder + '/data', approve }
    ${script}`
  return spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
