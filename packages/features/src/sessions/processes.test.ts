import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SessionStatus } from './types.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, '../../../../test/support/load-typescript.mjs')).href
const from = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-sessions-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('sessions of a hub that was killed end with a reason, their waiters are notified, and no message is read twice', async () => {
  const child = startSessions()
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
      ['failed', 'The process that it ran in is gone.'],
      ['ended', 'The process that it ran in is gone.'],
    ])
    const again = await hub.callDynamic('core/session.status', {}, { run: 'there' })
    expect((again.data as SessionStatus).children).toMatchObject([{ id, state: 'failed' }])
  } finally {
    child.kill('SIGKILL')
    await hub.close()
    await store.close()
  }
})

/** A run with a session below it that says what it reads; a whole hub around them would only take longer to load. */
function startSessions() {
  const source = `
    import { openStore } from ${from('../../../library/src/stores.ts')}
    import { createSessions } from ${from('create-sessions.ts')}
    import { systemClock as clock } from ${from('../../../core/src/context.ts')}
    const store = openStore(${JSON.stringify(folder)} + '/data', { pollMs: 20 })
    const host = {
      store, clock, warn: console.error, redact: (text) => text, isTainted: () => false, principalNow: (known) => known,
      as: () => ({ listForLLM: () => [], endRun: async () => {} }),
      emitChange: (feature, subject) => store.events.append({ topic: 'feature', body: JSON.stringify({ feature, subject }), at: 0 }),
    }
    const run = async ({ messages }) => {
      for await (const { text } of messages()) console.log('read ' + text)
      return ''
    }
    const feature = await createSessions({ runners: { default: { run } } }, host)
    const call = {
      run: 'there', session: 'there', isTainted: false, rights: { caller: 'x' }, permits() {}, beforeEffect: async () => {},
      signal: () => new AbortController().signal,
    }
    const { id } = await feature.handle(call).spawn({ task: 'x', label: 'x' })
    console.log(id)`
  return spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
