import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BucketOptions, systemClock } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { serveObjects } from '../../../../test/support/object-service.ts'
import { ended, newRun } from '../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { findArtifactOf } from '../../../runtime/src/records/artifacts.ts'
import { RunRecords } from '../../../runtime/src/records/log/run-records.ts'
import { createRunJournal } from '../../../runtime/src/records/undo/undo-folder.ts'
import { SharedRecords } from './shared-records.ts'

const service = await serveObjects()
const store = openStore(temporaryFolder('shared-store'))
const problems: unknown[] = []
const opened: SharedRecords[] = []
const clock = { ...systemClock, now: () => systemClock.now() }

function share(bucket?: BucketOptions): SharedRecords {
  const shared = new SharedRecords({ store, clock, bucket, onProblem: (error) => problems.push(error) })
  opened.push(shared)
  return shared
}
afterAll(async () => {
  await Promise.all(opened.map((shared) => shared.close()))
  await store.close()
})
beforeEach(() => {
  problems.length = 0
  service.objects.clear()
  service.intercept = () => false
})

let owners = 0
async function openRun(shared: SharedRecords, root: string, run = newRun()): Promise<RunRecords> {
  const owner = `owner-${++owners}`
  const { epoch } = await store.runStates.lease(run, { owner })
  const shipment = await shared.prepare(root, run, { owner, epoch })
  return RunRecords.open(root, run, { durability: 'shared', clock, heads: store.heads, shipment })
}

const kinds: [string, BucketOptions | undefined][] = [
  ['in the store', undefined],
  ['in a bucket', service.options],
]

describe.each(kinds)('an artifact %s', (_, bucket) => {
  const [one, two] = [share(bucket), share(bucket)]

  it('is read on another machine, as a whole and in parts, by its run alone', async () => {
    const records = await openRun(one, temporaryFolder('one'))
    const content = randomBytes(2_500_000)
    const { ref, sha256: hash } = await records.putArtifact(content)
    const root = temporaryFolder('two')
    const reader = await findArtifactOf(root, records.run, ref, two.content)
    expect(reader.bytes).toBe(content.length)
    expect(Buffer.from(await reader.read()).equals(content)).toBe(true)
    const pieces: Uint8Array[] = []
    for await (const piece of reader.part({ start: 1_048_570, end: 2_100_000 })) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(content.subarray(1_048_570, 2_100_000))).toBe(true)
    await expect(findArtifactOf(root, 'other', ref, two.content)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(service.objects.size).toBe(bucket ? 1 : 0)
    const again = await openRun(one, temporaryFolder('three'))
    await again.putArtifact(content)
    expect(service.objects.size).toBe(bucket ? 1 : 0)
    expect(await store.blobs.find(hash, again.run)).toBeDefined()
    await Promise.all([records.close(), again.close()])
  })

  it('is stored piece by piece before its writer ends', async () => {
    const records = await openRun(one, temporaryFolder('one'))
    const writer = records.openArtifact()
    const pieces = Array.from({ length: 5 }, () => randomBytes(700_000))
    for (const piece of pieces) await writer.write(piece)
    const { ref } = await writer.finish({ name: 'a', mediaType: 'text/plain' })
    const reader = await findArtifactOf(temporaryFolder('two'), records.run, ref, two.content)
    expect(Buffer.from(await reader.read()).equals(Buffer.concat(pieces))).toBe(true)
    await records.close()
  })

  it('is copied to the folder of a run that continues on another machine', async () => {
    const records = await openRun(one, temporaryFolder('one'))
    const { sha256: hash } = await records.putArtifact('hello')
    await records.putArtifact('')
    await records.close()
    await store.runStates.release(records.run, (await leaseOf(records.run))!)
    const root = temporaryFolder('two')
    const moved = await openRun(two, root, records.run)
    expect(await moved.fetchArtifact(hash)).toBe(true)
    expect(await readFile(join(root, records.run, 'artifacts', hash), 'utf8')).toBe('hello')
    expect(await moved.fetchArtifact(sha256(''))).toBe(true)
    expect(await moved.fetchArtifact(sha256('unknown'))).toBe(false)
    await moved.close()
  })
})

async function leaseOf(run: string) {
  const { owner = '', epoch } = (await store.runStates.find(run))!
  return { owner, epoch }
}

describe('what undo needs', () => {
  it('is shared before the change, and copied to another machine', async () => {
    const [one, two] = [share(), share()]
    const root = temporaryFolder('one')
    const records = await openRun(one, root)
    const path = join(root, 'file.txt')
    await writeFile(path, 'before')
    const journal = createRunJournal(records, { callId: 'c', tool: 't', maxBytes: 100, durability: 'shared' })
    const state = { sha256: sha256('before'), bytes: 6, mode: 0o600 }
    expect(await journal.keepFile(path, state)).toBeUndefined()
    await journal.intend({ op: 'remove', path, before: state })
    expect(await store.blobs.find(state.sha256, records.run)).toMatchObject({ bytes: 6 })
    await records.close()
    await store.runStates.release(records.run, await leaseOf(records.run))
    const moved = await openRun(two, temporaryFolder('two'), records.run)
    expect(await moved.kept.fetch(state.sha256)).toBe(true)
    expect(await readFile(join(moved.folder, 'undo', state.sha256), 'utf8')).toBe('before')
    await moved.close()
  })
})

describe('sealed segments', () => {
  const longRun = async (shared: SharedRecords) => {
    const records = await openRun(shared, temporaryFolder('one'))
    const summary = 'x'.repeat(30_000)
    for (let n = 0; n < 100; n++) {
      records.append(ended(`c${n}`, { summary }))
      if (n % 10 === 0) await records.synced()
    }
    await records.close()
    await records.drained()
    shared.closed(records.run)
    await shared.close()
    return records
  }

  it('are objects in the bucket, from which the run continues on another machine', async () => {
    const records = await longRun(share(service.options))
    const rows = await store.segments.read(records.run, { from: 1, limit: 100 })
    expect(rows.every(({ lines, object }) => lines === undefined && object !== undefined)).toBe(true)
    expect(service.objects.size).toBe(rows.length)
    await store.runStates.release(records.run, await leaseOf(records.run))
    const root = temporaryFolder('two')
    const moved = await openRun(share(service.options), root, records.run)
    await moved.close()
    const text = await readFile(join(records.folder, 'events.jsonl'), 'utf8')
    expect((await readFile(join(root, records.run, 'events.jsonl'), 'utf8')).startsWith(text)).toBe(true)
    await store.runStates.release(records.run, await leaseOf(records.run))
    const without = openRun(share(), temporaryFolder('three'), records.run)
    await expect(without).rejects.toMatchObject({ fix: { key: 'records.bucket' } })
  })

  it('stay in the store while the bucket fails or does not keep what it took', async () => {
    service.intercept = (request, response) => {
      if (request.method !== 'GET') return false
      response.writeHead(200).end('something else')
      return true
    }
    const records = await longRun(share(service.options))
    const rows = await store.segments.read(records.run, { from: 1, limit: 100 })
    expect(rows.every(({ lines }) => lines !== undefined)).toBe(true)
    expect(problems[0]).toMatchObject({ code: 'CONFLICT' })
  })

  it('are removed with the run, and its content when no run uses it', async () => {
    const shared = share(service.options)
    const root = temporaryFolder('one')
    await mkdir(root, { recursive: true })
    const records = await openRun(shared, root)
    const { sha256: hash } = await records.putArtifact(randomBytes(2_000_000))
    await records.close()
    shared.closed(records.run)
    await shared.close()
    expect(service.objects.size).toBe(2)
    const again = share(service.options)
    await again.remove(records.run)
    expect(await store.segments.heads({ run: records.run })).toEqual([])
    expect([...service.objects.keys()]).toMatchObject([expect.stringContaining(hash)])
    const now = clock.now()
    clock.now = () => now + 90_000_000
    await again.sweep()
    clock.now = systemClock.now
    expect(service.objects.size).toBe(0)
  })
})

it('keeps large content in the store if the bucket does not take it', async () => {
  const shared = share({ ...service.options, secretAccessKey: 'wrong' })
  const records = await openRun(shared, temporaryFolder('one'))
  const { sha256: hash } = await records.putArtifact(randomBytes(1_100_000))
  expect(await store.blobs.find(hash, records.run)).toMatchObject({ parts: 2 })
  expect(problems).toMatchObject([{ message: expect.stringContaining('SignatureDoesNotMatch') }])
  await records.close()
})
