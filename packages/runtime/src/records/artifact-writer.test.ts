import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun, runsFolder } from '../../../../test/support/record-run.ts'
import { systemClock } from '../../../core/src/context.ts'
import { sha256 } from '../../../core/src/lib/hash.ts'
import { ArtifactWriter } from './artifact-writer.ts'
import { RunRecords, type RunRecordsOptions } from './log/run-records.ts'
import { verifyRun } from './log/verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }
const kind = { name: 'output.txt', mediaType: 'text/plain' }

describe('an artifact that is written piece by piece', () => {
  it.each(['effects', 'full'] as const)('is the same as one that is stored in one go (%s)', async (durability) => {
    const records = RunRecords.open(root, newRun(), { ...options, durability })
    const pieces = Array.from({ length: 3_000 }, (_, index) => randomBytes(index))
    const file = records.openArtifact()
    const waits = pieces.map((piece) => file.write(piece))
    expect(waits[0]).toBeUndefined()
    await Promise.all(waits)
    const whole = Buffer.concat(pieces)
    const artifact = await file.finish(kind)
    expect(artifact).toEqual({ ref: `artifact:${sha256(whole)}`, sha256: sha256(whole), bytes: whole.length, ...kind })
    expect(Buffer.from(await records.readArtifact(artifact.ref)).equals(whole)).toBe(true)
    expect(await readdir(join(records.folder, 'artifacts'))).toEqual([artifact.sha256])
    expect((await records.putArtifact(whole)).ref).toBe(artifact.ref)
    await records.close()
  })

  it('asks to be waited for when there is much to write', async () => {
    const file = new ArtifactWriter(root, { isDurable: false })
    const piece = Buffer.alloc(300_000)
    expect([1, 2, 3].map(() => file.write(piece))).toEqual([undefined, undefined, undefined])
    await expect(file.write(piece)).resolves.toBeUndefined()
    await file.discard()
  })

  it('is stored once, also when two write the same at a time', async () => {
    const records = RunRecords.open(root, newRun(), options)
    const files = [records.openArtifact(), records.openArtifact(), records.openArtifact()]
    for (const file of files) file.write(Buffer.from('same'))
    const artifacts = await Promise.all(files.map((file) => file.finish(kind)))
    expect(new Set(artifacts.map(({ ref }) => ref)).size).toBe(1)
    expect(await readdir(join(records.folder, 'artifacts'))).toEqual([artifacts[0]!.sha256])
    await records.close()
  })

  it('can be read while it grows and when it is finished', async () => {
    const file = new ArtifactWriter(root, { isDurable: false })
    expect(await file.read(0, 10)).toHaveLength(0)
    file.write(Buffer.from('hello '))
    file.write(Buffer.from('world'))
    expect(Buffer.from(await file.read(4, 4)).toString()).toBe('o wo')
    const [late, artifact] = await Promise.all([file.read(6, 100), file.finish(kind)])
    expect(Buffer.from(late).toString()).toBe('world')
    expect(file.write(Buffer.from('too late'))).toBeUndefined()
    expect(Buffer.from(await file.read(0, 100)).toString()).toBe('hello world')
    expect(await file.read(50, 10)).toHaveLength(0)
    expect((await file.finish({ ...kind, name: 'again' })).sha256).toBe(artifact.sha256)
    await file.discard()
    expect(await file.read(0, 5)).toHaveLength(5)
  })

  it('makes no file before the first write, and leaves none when it is discarded', async () => {
    const records = RunRecords.open(root, newRun(), options)
    const folder = join(records.folder, 'artifacts')
    const file = records.openArtifact()
    expect(await readdir(folder)).toEqual([])
    file.write(Buffer.from('x'))
    await file.read(0, 1)
    expect(await readdir(folder)).toHaveLength(1)
    await Promise.all([file.discard(), file.discard()])
    expect(await readdir(folder)).toEqual([])
    expect(await file.read(0, 1)).toHaveLength(0)
    await expect(file.finish(kind)).rejects.toThrow('discarded')
    const empty = await records.openArtifact().finish(kind)
    expect(empty).toMatchObject({ bytes: 0, sha256: sha256('') })
    await records.close()
  })
})

describe('a disk that refuses', () => {
  it('is reported with the next write and the end, and leaves no draft', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tool-hub-writer-'))
    const file = new ArtifactWriter(folder, { isDurable: false, openFile: openSmall(5_000) })
    // Nobody waits for the first ones: nothing must come of that.
    for (let count = 0; count < 2_000; count++) file.write(Buffer.alloc(1_000))
    const full = { code: 'RECORDS_UNAVAILABLE', message: 'The artifact cannot be stored: the disk is full (ENOSPC).' }
    await expect(file.read(0, 1_000_000)).rejects.toMatchObject(full)
    await expect(file.write(Buffer.from('x'))).rejects.toMatchObject(full)
    await expect(file.finish(kind)).rejects.toMatchObject(full)
    await expect(file.discard()).resolves.toBeUndefined()
    expect(await readdir(folder)).toEqual([])
    await rm(folder, { recursive: true })
  })

  it('may take a part of what it is given', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tool-hub-writer-'))
    const file = new ArtifactWriter(folder, { isDurable: false, openFile: openSmall(100_000, 7) })
    const pieces = Array.from({ length: 60 }, (_, index) => randomBytes(index))
    for (const piece of pieces) file.write(piece)
    const { sha256: hash } = await file.finish(kind)
    expect(await readFile(join(folder, hash))).toEqual(Buffer.concat(pieces))
    await rm(folder, { recursive: true })
  })

  it('is reported when the folder is gone', async () => {
    const file = new ArtifactWriter(join(root, 'none'), { isDurable: true })
    file.write(Buffer.from('x'))
    await expect(file.finish(kind)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})

describe('the draft of a process that was killed', () => {
  it('confuses nobody, and is swept when the run is opened again', async () => {
    const run = newRun()
    const killed = RunRecords.open(root, run, options)
    const folder = join(killed.folder, 'artifacts')
    const { sha256: kept } = await killed.putArtifact('kept')
    const file = killed.openArtifact()
    file.write(Buffer.from('half'))
    await file.read(0, 4)
    await killed.written()
    // As kill -9 leaves it: the events and the drafts, but no head and no lock of a living process.
    await Promise.all(['lock', 'head.json'].map((name) => rm(join(killed.folder, name), { force: true })))
    await writeFile(join(folder, `${kept}.0123456789ab`), 'half of a put')
    expect(await verifyRun(killed.folder)).toMatchObject({ state: 'unproven', problems: [] })
    expect(await readdir(folder)).toHaveLength(3)
    const records = RunRecords.open(root, run, options)
    expect(await readdir(folder)).toEqual([kept])
    await records.close()
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true })
    await file.discard()
  })
})

/** Opens real files on a disk with little room, which takes at most so many bytes per write. */
function openSmall(room: number, most = room): typeof open {
  let left = room
  return async (...options) => {
    const file = await open(...options)
    const writev = async (pieces: readonly Uint8Array[], position: number) => {
      if (left === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      const bytes = Buffer.concat(pieces).subarray(0, Math.min(left, most))
      left -= bytes.length
      return file.write(bytes, 0, bytes.length, position)
    }
    return Object.assign(file, { writev }) as FileHandle
  }
}
