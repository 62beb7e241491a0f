import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { SharedCheck } from '../packages/cluster/src/records/verify-shared.ts'
import { addLine, openSharedStore, sharedHub } from './support/shared-hub.ts'
import { sharedText } from './support/shared-records.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const LOADER = new URL('support/load-typescript.mjs', import.meta.url).href
const SCRIPT = join(import.meta.dirname, 'support/shared-until-killed.ts')

/** What the record of the next machine says about the call during which the process was killed. */
const THIRD_CALL = {
  'started before': { written: 2, types: [] },
  'started after': { written: 2, types: ['call-started', 'call-interrupted'] },
  'ended before': { written: 3, types: ['call-started', 'call-interrupted'] },
  'ended after': { written: 3, types: ['call-started', 'call-ended'] },
} as const

it.each(Object.entries(THIRD_CALL))(
  'loses no acknowledged call and doubles no side effect after kill -9: the line is %s it was shared',
  async (when, { written, types }) => {
    const base = temporaryFolder('shared-killed')
    const [folder, root] = [join(base, 'store'), join(base, 'root')]
    mkdirSync(root)
    const words = ['--import', LOADER, SCRIPT, folder, join(base, 'one'), root, ...when.split(' ')]
    const child = spawn(process.execPath, words, { cwd: base, stdio: ['ignore', 'pipe', 'inherit'] })
    const [acknowledged] = await Promise.all([text(child.stdout), once(child, 'exit')])
    expect([acknowledged, child.signalCode]).toEqual(['1\n2\n', 'SIGKILL'])
    const lines = () => readFileSync(join(root, 'a.txt'), 'utf8').trim().split('\n')
    expect(lines()).toHaveLength(written)

    // Ten seconds after its last heartbeat, the process counts as dead.
    const store = openSharedStore(folder, { now: () => Date.now() + 11_000 })
    const hub = sharedHub(join(base, 'two'), store, { sandbox: { root }, run: 'mine' })
    const next = await hub.call(addLine, { path: 'a.txt', line: 'next' }, { run: 'victim' })
    expect(next).toMatchObject({ ok: true })
    expect(lines()).toHaveLength(written + 1)
    await hub.endRun('victim')
    const events = (await sharedText(store, 'victim'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const ofCalls = events.filter(({ type }) => String(type).startsWith('call-'))
    const ids = [...new Set(ofCalls.map(({ callId }) => callId))]
    const typesOf = (id: string) => ofCalls.filter(({ callId }) => callId === id).map(({ type }) => type)
    const ended = ['call-started', 'call-ended']
    expect(ids.map(typesOf)).toEqual([ended, ended, ...(types.length > 0 ? [types] : []), ended])
    expect(readFileSync(join(base, 'two/runs/victim/events.jsonl'), 'utf8')).toBe(await sharedText(store, 'victim'))
    const check = await SharedCheck.open({ source: { segments: store.segments }, heads: store.heads })
    expect(await check.verify('victim')).toMatchObject({ state: 'intact', problems: [] })
    await hub.close()
    await store.close()
  },
)
