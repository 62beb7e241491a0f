import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { writePieces } from './artifact-writer.ts'

const folder = temporaryFolder('write-pieces')
const pieces = ['ab', '', 'cde', 'f'].map((text) => Buffer.from(text))

it.each([1, 2, 3, 5, 6, 9])('writes all pieces to a disk that takes %d bytes at a time', async (most) => {
  const path = join(folder, `file-${most}`)
  const file = await open(path, 'w')
  await file.write('0123')
  const seen: number[] = []
  const writev = async (rest: readonly Uint8Array[], position: number) => {
    seen.push(rest.length)
    const bytes = Buffer.concat(rest).subarray(0, most)
    return { bytesWritten: (await file.write(bytes, 0, bytes.length, position)).bytesWritten, buffers: [...rest] }
  }
  expect(await writePieces({ writev } as never, pieces, 2)).toBe(6)
  await file.close()
  expect(await readFile(path, 'utf8')).toBe('01abcdef')
  expect(seen).toHaveLength(Math.ceil(6 / most))
})

it('writes nothing of nothing, and fails when the disk takes nothing', async () => {
  expect(await writePieces({} as never, [], 0)).toBe(0)
  const writev = async () => ({ bytesWritten: 0, buffers: [] })
  await expect(writePieces({ writev } as never, pieces, 0)).rejects.toThrow('The disk took nothing.')
})
