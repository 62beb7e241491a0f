import { mkdirSync, readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '@tool-hub/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SharedCheck } from '../packages/cluster/src/records/verify-shared.ts'
import { addLine, longText, openSharedStore, sharedHub } from './support/shared-hub.ts'
import { sharedText } from './support/shared-records.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** Two machines with a root in common, and a store for each of them on the same file. */
function machines() {
  const base = temporaryFolder('shared-records')
  const root = join(base, 'root')
  mkdirSync(root)
  const stores = [openSharedStore(join(base, 'store')), openSharedStore(join(base, 'store'))] as const
  const [one, two] = stores.map((store, index) => ({
    folder: join(base, `machine-${index}`),
    store,
    hub: sharedHub(join(base, `machine-${index}`), store, { sandbox: { root }, run: `own-${index}` }),
  })) as [Machine, Machine]
  onTestFinished(async () => {
    await Promise.all([one.hub.close(), two.hub.close()])
    await Promise.all(stores.map((store) => store.close()))
  })
  return { root, one, two }
}

interface Machine {
  readonly folder: string
  readonly store: Store
  readonly hub: ReturnType<typeof sharedHub>
}

const eventsOf = ({ folder }: Machine, run: string) => readFileSync(join(folder, 'runs', run, 'events.jsonl'), 'utf8')

describe('a hub whose store is shared', () => {
  it('has every call with side effects in the store when it returns', async () => {
    const { root, one } = machines()
    const result = await one.hub.call(addLine, { path: 'a.txt', line: 'one' }, { run: 'r' })
    expect(result).toMatchObject({ ok: true })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
    const text = await sharedText(one.store, 'r')
    expect(eventsOf(one, 'r').startsWith(text)).toBe(true)
    expect(text).toContain('"type":"call-ended"')
  })

  it('continues a run on another machine: with its record, its artifacts, and what undo needs', async () => {
    const { root, one, two } = machines()
    await writeFile(join(root, 'a.txt'), 'before\n')
    const written = await one.hub.call(addLine, { path: 'a.txt', line: 'one' }, { run: 'r' })
    const long = await one.hub.call(longText, { length: 100_000 }, { run: 'r' })
    const [artifact] = long.artifacts
    expect([written.ok, long.ok, artifact !== undefined]).toEqual([true, true, true])
    expect(await two.hub.artifact(artifact!.ref, { run: 'r' })).toHaveLength(artifact!.bytes)
    await one.hub.endRun('r')

    const read = await two.hub.callDynamic('core/fs.readText', { path: artifact!.ref }, { run: 'r' })
    expect(read).toMatchObject({ ok: true })
    await two.hub.undo({ run: 'r' })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('before\n')
    await two.hub.endRun('r')
    expect(eventsOf(two, 'r').startsWith(eventsOf(one, 'r'))).toBe(true)
    expect(await sharedText(two.store, 'r')).toBe(eventsOf(two, 'r'))
    const check = await SharedCheck.open({ source: { segments: one.store.segments }, heads: one.store.heads })
    expect(await check.verify('r')).toMatchObject({ state: 'intact', problems: [] })
  })

  it('executes nothing while the store does not take records, and continues by itself', async () => {
    const { root, one } = machines()
    await one.hub.call(addLine, { path: 'a.txt', line: 'one' }, { run: 'r' })
    const { append } = one.store.segments
    Object.assign(one.store.segments, { append: () => Promise.reject(new Error('connection refused')) })
    const refused = await one.hub.call(addLine, { path: 'a.txt', line: 'two' }, { run: 'r' })
    expect(refused).toMatchObject({ ok: false, error: { code: 'RECORDS_UNAVAILABLE', retryable: true } })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
    Object.assign(one.store.segments, { append })
    expect(await one.hub.call(addLine, { path: 'a.txt', line: 'three' }, { run: 'r' })).toMatchObject({ ok: true })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\nthree\n')
    expect(eventsOf(one, 'r')).toContain('RECORDS_UNAVAILABLE')
  })

  it('does not acknowledge a call whose end another process will never know', async () => {
    const { one } = machines()
    await one.hub.call(addLine, { path: 'a.txt', line: 'one' }, { run: 'r' })
    const { append } = one.store.segments
    let appended = 0
    Object.assign(one.store.segments, {
      async append(batch: Parameters<typeof append>[0]) {
        appended++
        // After the intent and the change, before the end: another process takes the run.
        const isEnd = batch.some(({ lines }) => lines.includes('call-ended'))
        if (isEnd) await one.store.runStates.release('r', batch[0]!.held)
        return append(batch)
      },
    })
    const result = await one.hub.call(addLine, { path: 'a.txt', line: 'two' }, { run: 'r' })
    expect(appended).toBeGreaterThan(1)
    expect(result).toMatchObject({
      ok: false,
      status: 'error',
      error: {
        code: 'RUN_MOVED',
        message: expect.stringContaining('was executed, but its end could not be shared'),
        retryable: false,
      },
    })
    Object.assign(one.store.segments, { append })
    expect(await one.hub.call(addLine, { path: 'a.txt', line: 'three' }, { run: 'r' })).toMatchObject({ ok: true })
    expect(await readdir(join(one.folder, 'runs/r/archive'))).toEqual([])
  })

  it('needs a store that is shared', async () => {
    const store = openSharedStore(join(temporaryFolder('store'), 'store'))
    const folder = temporaryFolder('alone')
    const alone = { ...store, location: 'process' as const }
    expect(() => sharedHub(folder, alone, { durability: 'shared' })).toThrow('needs a store that many machines share')
    const bucket = { url: 'https://s3.example.org/b', region: 'eu', accessKeyId: 'a', secretAccessKey: 'b' }
    expect(() => sharedHub(folder, alone, { records: { bucket } })).toThrow('records.bucket needs a store')
    const wrong = { records: { bucket: { ...bucket, url: 'b' } } }
    expect(() => sharedHub(folder, { ...alone, location: 'network' }, wrong)).toThrow('is not the address of a bucket')
    await store.close()
  })
})
