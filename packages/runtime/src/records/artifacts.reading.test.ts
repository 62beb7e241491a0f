import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { sha256 } from '../../../core/src/lib/hash.ts'
import { artifactDraft, isStored, sweepArtifactDrafts } from './artifact-writer.ts'
import { ArtifactCheck, Artifacts, findArtifactOf, readArtifactOf } from './artifacts.ts'

const PIECE = 256 * 1024
let root: string
let folder: string
let artifacts: Artifacts
beforeEach(() => {
  root = temporaryFolder('artifacts')
  folder = join(root, 'r/artifacts')
  mkdirSync(folder, { recursive: true })
  artifacts = new Artifacts(folder, { isDurable: true })
})

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer[]> {
  const found: Buffer[] = []
  for await (const piece of pieces) found.push(Buffer.from(piece))
  return found
}

describe('what is said of an artifact', () => {
  it('is what its owner says, and otherwise what its content tells', async () => {
    const text = await artifacts.put('héllo')
    const hash = sha256('héllo')
    expect(text).toEqual({
      ref: `artifact:${hash}`,
      name: `${hash.slice(0, 12)}.txt`,
      bytes: 6,
      sha256: hash,
      mediaType: 'text/plain; charset=utf-8',
    })
    const bytes = await artifacts.put(Buffer.from([0, 255]))
    expect(bytes).toMatchObject({ name: expect.stringMatching(/^[0-9a-f]{12}\.bin$/), bytes: 2 })
    expect(bytes.mediaType).toBe('application/octet-stream')
    const named = await artifacts.put('x', { name: 'a.csv', mediaType: 'text/csv' })
    expect(named).toMatchObject({ name: 'a.csv', mediaType: 'text/csv' })
    expect(statSync(join(folder, hash)).mode & 0o777).toBe(0o600)
  })

  it('is repaired when its file was cut off', async () => {
    const { ref, sha256: hash } = await artifacts.put('whole')
    writeFileSync(join(folder, hash), 'who')
    await artifacts.put('whole')
    expect(Buffer.from(await artifacts.read(ref)).toString()).toBe('whole')
    expect(readdirSync(folder)).toEqual([hash])
  })
})

describe('reading an artifact', () => {
  it.each([0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE])('gives all of its %d bytes in pieces', async (length) => {
    const content = Buffer.alloc(length, 'x')
    const { ref } = await artifacts.put(content)
    const reader = await findArtifactOf(root, 'r', ref)
    expect(reader.bytes).toBe(length)
    const pieces = await collect(reader.whole())
    expect(pieces.map((piece) => piece.length)).toEqual(
      [PIECE, PIECE, PIECE].map((most, index) => Math.min(most, length - index * PIECE)).filter((size) => size > 0),
    )
    expect(Buffer.concat(pieces).equals(content)).toBe(true)
    expect(Buffer.from(await readArtifactOf(root, 'r', ref)).equals(content)).toBe(true)
  })

  it('gives a part of it', async () => {
    const reader = await artifacts.find((await artifacts.put('0123456789')).ref)
    const part = async (start: number, end: number) =>
      Buffer.concat(await collect(reader.part({ start, end }))).toString()
    expect(await Promise.all([part(2, 5), part(9, 10), part(4, 4)])).toEqual(['234', '9', ''])
  })

  it('fails before its last piece when the content was changed', async () => {
    const { ref, sha256: hash } = await artifacts.put(Buffer.alloc(2 * PIECE, 'x'))
    const reader = await artifacts.find(ref)
    const refused = {
      code: 'CONFLICT',
      message: `artifact:${hash} was changed after it was stored.`,
      fix: { hint: 'Do not use it; make it again, and run audit verify.' },
    }
    const pieces: number[] = []
    const readAll = async () => {
      for await (const piece of reader.whole()) pieces.push(piece.length)
    }
    writeFileSync(join(folder, hash), Buffer.alloc(2 * PIECE, 'y'))
    await expect(readAll()).rejects.toMatchObject(refused)
    expect(pieces).toEqual([PIECE])
    await expect(artifacts.read(ref)).rejects.toMatchObject(refused)
    writeFileSync(join(folder, hash), 'short')
    await expect(collect(reader.part({ start: 0, end: 6 }))).rejects.toMatchObject(refused)
  })

  it('refuses an invalid reference, a missing artifact and an invalid run', async () => {
    const missing = `artifact:${'0'.repeat(64)}`
    const noReference = {
      code: 'NOT_FOUND',
      message: '"artifact:../x" is not an artifact reference.',
      fix: { hint: 'Use the ref of an artifact as a result gives it: artifact:<sha256>.' },
    }
    await expect(artifacts.read('artifact:../x')).rejects.toMatchObject(noReference)
    await expect(artifacts.find('artifact:../x')).rejects.toMatchObject(noReference)
    await expect(artifacts.find('x'.repeat(101))).rejects.toThrow(`"${'x'.repeat(100)}" is not`)
    await expect(artifacts.find(missing)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `This run has no ${missing}.`,
      fix: { hint: 'Artifacts belong to the run that made them.' },
    })
    expect(() => readArtifactOf(root, '../r', missing)).toThrow('is not a run id')
    await expect(findArtifactOf(root, '../r', missing)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('follows no link', async () => {
    const { sha256: hash, ref } = await artifacts.put('x')
    const other = join(root, 'other/artifacts')
    mkdirSync(other, { recursive: true })
    symlinkSync(join(folder, hash), join(other, hash))
    await expect(readArtifactOf(root, 'other', ref)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await isStored(join(other, hash), 1)).toBe(false)
    writeFileSync(join(root, 'file'), '')
    await expect(isStored(join(root, 'file', hash), 1)).rejects.toThrow('ENOTDIR')
  })
})

describe('storing an artifact', () => {
  it('says what the disk refuses, and leaves no draft', async () => {
    const gone = new Artifacts(join(root, 'gone'), { isDurable: false })
    await expect(gone.put('x')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The artifact cannot be stored: the folder cannot be used (ENOENT).',
    })
    mkdirSync(join(folder, sha256('taken')))
    await expect(artifacts.put('taken')).rejects.toThrow('The artifact cannot be stored')
    expect(readdirSync(folder)).toEqual([sha256('taken')])
  })

  it('sweeps drafts and nothing else', () => {
    const hash = 'a'.repeat(64)
    const kept = [
      hash,
      `${hash}.0123456789a`,
      `${hash}.0123456789abc`,
      `x${hash}.0123456789ab`,
      'stream.0123456789abc',
      'my-stream.0123456789ab',
    ]
    for (const name of kept) writeFileSync(join(folder, name), '')
    for (const name of [hash, 'stream']) writeFileSync(artifactDraft(folder, name), '')
    sweepArtifactDrafts(folder)
    expect(readdirSync(folder).sort()).toEqual(kept.sort())
  })
})

describe('the check of an artifact', () => {
  it('says what is wrong with it', async () => {
    const check = new ArtifactCheck(folder)
    const [whole, other] = [await artifacts.put('x'.repeat(PIECE + 1)), await artifacts.put('other')]
    expect(await check.problemOf(whole.ref)).toBeUndefined()
    expect(await check.problemOf('file:/etc/passwd')).toBe('is not an artifact')
    expect(await check.problemOf(`artifact:${'0'.repeat(64)}`)).toBe('is missing')
    writeFileSync(join(folder, other.sha256), 'else')
    expect(await check.problemOf(other.ref)).toBe('was changed')
    // What was intact once is not read again by the same check.
    writeFileSync(join(folder, whole.sha256), 'changed')
    expect(await check.problemOf(whole.ref)).toBeUndefined()
    expect(await new ArtifactCheck(folder).problemOf(whole.ref)).toBe('was changed')
    const linked = 'b'.repeat(64)
    symlinkSync(join(folder, whole.sha256), join(folder, linked))
    expect(await check.problemOf(`artifact:${linked}`)).toBe('was changed')
  })
})
