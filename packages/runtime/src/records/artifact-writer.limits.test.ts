import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { sha256 } from '../../../core/src/lib/hash.ts'
import { ArtifactWriter } from './artifact-writer.ts'

const kind = { name: 'n', mediaType: 'm' }
const MIB = 1024 * 1024
let folder: string
beforeEach(() => {
  folder = temporaryFolder('artifact-writer')
})

/** Opens real files, and tells what is done with them. */
function watched(): { readonly openFile: typeof open; readonly batches: number[]; readonly seen: { syncs: number } } {
  const batches: number[] = []
  const seen = { syncs: 0 }
  const openFile: typeof open = async (...options) => {
    const file = await open(...options)
    const { writev, sync } = file
    return Object.assign(file, {
      writev: (pieces: readonly Uint8Array[], position: number) => {
        batches.push(pieces.length)
        return writev.call(file, pieces, position)
      },
      sync: () => {
        seen.syncs++
        return sync.call(file)
      },
    }) as FileHandle
  }
  return { openFile, batches, seen }
}

describe('an artifact that is written piece by piece', () => {
  it('asks to be waited for with more than 1 MiB to write, until half of it is written', async () => {
    const file = new ArtifactWriter(folder, { isDurable: false })
    expect(file.write(Buffer.alloc(MIB))).toBeUndefined()
    expect(file.write(new Uint8Array())).toBeUndefined()
    const room = file.write(Buffer.alloc(1))
    expect(room).toBeInstanceOf(Promise)
    await room
    expect(file.write(Buffer.alloc(MIB / 2))).toBeUndefined()
    const artifact = await file.finish(kind)
    expect(artifact.bytes).toBe(1.5 * MIB + 1)
    expect(statSync(join(folder, artifact.sha256)).mode & 0o777).toBe(0o600)
  })

  it('is written in batches of 1,024 pieces', async () => {
    const { openFile, batches, seen } = watched()
    const file = new ArtifactWriter(folder, { isDurable: false, openFile })
    const pieces = Array.from({ length: 2_500 }, (_, index) => Buffer.from(`${index};`))
    for (const piece of pieces) file.write(piece)
    const artifact = await file.finish(kind)
    expect(Math.max(...batches)).toBe(1_024)
    expect(batches.reduce((sum, count) => sum + count)).toBe(2_500)
    expect(readFileSync(join(folder, artifact.sha256)).equals(Buffer.concat(pieces))).toBe(true)
    expect(seen.syncs).toBe(0)
  })

  it('is made durable once, where that is asked for', async () => {
    const { openFile, seen } = watched()
    for (const expected of [1, 1]) {
      const file = new ArtifactWriter(folder, { isDurable: true, openFile })
      file.write(Buffer.from('same'))
      await file.finish(kind)
      expect(seen.syncs).toBe(expected)
    }
    expect(readdirSync(folder)).toEqual([sha256('same')])
  })

  it('is read from any place, while it is written and afterwards', async () => {
    const file = new ArtifactWriter(folder, { isDurable: false })
    file.write(Buffer.from('0123456789'))
    const read = async (offset: number, length: number) => Buffer.from(await file.read(offset, length)).toString()
    const all = async () => [await read(0, 3), await read(9, 5), await read(10, 1), await read(11, 1), await read(2, 0)]
    const expected = ['012', '9', '', '', '']
    expect(await all()).toEqual(expected)
    await file.finish(kind)
    expect(await all()).toEqual(expected)
    file.write(Buffer.from('more'))
    expect(await read(0, 100)).toBe('0123456789')
  })

  it('has no draft once it was discarded, and takes nothing more', async () => {
    const file = new ArtifactWriter(folder, { isDurable: false })
    for (let index = 0; index < 3_000; index++) file.write(Buffer.alloc(100))
    await file.discard()
    expect(readdirSync(folder)).toEqual([])
    file.write(Buffer.from('x'))
    expect(await file.read(0, 1)).toHaveLength(0)
    expect(readdirSync(folder)).toEqual([])
    await expect(file.finish(kind)).rejects.toThrow('The artifact was discarded before.')
  })

  it('cannot be read when its file is gone', async () => {
    const file = new ArtifactWriter(folder, { isDurable: false })
    file.write(Buffer.from('x'))
    const { sha256: hash } = await file.finish(kind)
    await expect(file.read(0, 1)).resolves.toHaveLength(1)
    rmSync(join(folder, hash))
    await expect(file.read(0, 1)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The artifact cannot be read: the folder cannot be used (ENOENT).',
    })
  })
})
