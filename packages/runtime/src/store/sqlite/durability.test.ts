import * as fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../../../core/src/store.ts'
import { LogSync, type SyncFile } from './durability.ts'

let root: string
let folders = 0
const opened: Store[] = []
let isHeld = false
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-hub-log-sync-'))
})
afterEach(async () => {
  isHeld = false
  await Promise.all(opened.splice(0).map((store) => store.close()))
})
afterAll(() => rm(root, { recursive: true, force: true }))

function open(syncFile: SyncFile): Store {
  const store = openStore(join(root, `data-${++folders}`), { syncFile, markMs: 3_600_000 })
  opened.push(store)
  return store
}

/** A disk whose syncs end when the test says so. */
function heldDisk() {
  const waiting: (() => void)[] = []
  let asked = () => {}
  isHeld = true
  const syncFile: SyncFile = (descriptor, done) => {
    if (!isHeld) return fs.fdatasync(descriptor, done)
    waiting.push(() => fs.fdatasync(descriptor, done))
    asked()
  }
  const nextSync = async () => {
    while (waiting.length === 0)
      await new Promise<void>((resolve) => {
        asked = resolve
      })
    return waiting.shift()!
  }
  return { syncFile, waiting, nextSync }
}

const grant = (id: string) => ({ id, tool: 't', body: '{}', createdAt: 1 })

describe('what a store acknowledges', () => {
  it('is synced before it is acknowledged, once for all who wait', async () => {
    const { syncFile, waiting, nextSync } = heldDisk()
    const store = open(syncFile)
    const done: string[] = []
    const writing = ['a', 'b', 'c'].map(async (id) => {
      await store.grants.put(grant(id))
      done.push(id)
    })
    const sync = await nextSync()
    expect(await store.grants.list()).toHaveLength(3)
    expect(done).toEqual([])
    sync()
    await Promise.all(writing)
    expect(done).toEqual(['a', 'b', 'c'])
    expect(waiting).toEqual([])
  })

  it('waits for a sync that began after it was written', async () => {
    const { syncFile, nextSync } = heldDisk()
    const store = open(syncFile)
    const first = store.grants.put(grant('a'))
    const sync = await nextSync()
    let isSecondDone = false
    const second = Promise.resolve(store.grants.put(grant('b'))).then(() => {
      isSecondDone = true
    })
    sync()
    await first
    expect(isSecondDone).toBe(false)
    const next = await nextSync()
    next()
    await second
  })

  it('needs no sync when nothing was written', async () => {
    const store = open(() => expect.unreachable())
    expect(await store.grants.remove('none')).toBe(false)
    expect(await store.memory.removeScope('none')).toBe(0)
    expect(await store.grants.list()).toEqual([])
  })

  it('counts of what was used are synced a little later, and nobody waits for it', async () => {
    let isSynced = false
    let tell = () => {}
    const syncing = new Promise<void>((resolve) => {
      tell = resolve
    })
    const store = open((descriptor, done) => {
      isSynced = true
      fs.fdatasync(descriptor, done)
      tell()
    })
    expect(store.budgets.reserve([{ account: 'a', limits: {} }], 1)).toMatchObject({ ok: true })
    expect(isSynced).toBe(false)
    await syncing
  })

  it('is refused for good once the disk could not sync: what it has dropped, a later sync would not tell', async () => {
    let syncs = 0
    const store = open((_, done) => {
      syncs++
      done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))
    })
    const refused = {
      code: 'RECORDS_UNAVAILABLE',
      message: expect.stringMatching(/cannot be made durable: EIO/),
      fix: { hint: expect.stringContaining('what was written last may be lost by a loss of power') },
      details: { path: expect.stringMatching(/store\.db$/) },
    }
    await expect(store.grants.put(grant('a'))).rejects.toMatchObject(refused)
    await expect(store.tokens.remove('t')).rejects.toMatchObject(refused)
    await expect(store.check()).rejects.toMatchObject(refused)
    expect(syncs).toBe(1)
  })
})

describe('a log that is not there', () => {
  it('is refused while it is missing, and synced once it is there', async () => {
    const path = join(root, 'alone.db')
    const log = new LogSync(path)
    expect(log.synced()).toBeUndefined()
    log.wrote()
    await expect(log.synced()).rejects.toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: expect.stringMatching(/alone\.db cannot be made durable: ENOENT/),
    })
    fs.writeFileSync(`${path}-wal`, '')
    await log.synced()
    expect(log.synced()).toBeUndefined()
    await log.close()
  })

  it('is not opened again after the end', async () => {
    const path = join(root, 'closed.db')
    fs.writeFileSync(`${path}-wal`, '')
    let syncs = 0
    const log = new LogSync(path, (descriptor, done) => {
      syncs++
      fs.fdatasync(descriptor, done)
    })
    log.wrote()
    await log.close()
    expect(syncs).toBe(1)
    log.wrote()
    await log.synced()
    await log.close()
    expect(syncs).toBe(1)
  })
})
