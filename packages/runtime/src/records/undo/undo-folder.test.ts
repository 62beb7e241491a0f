import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { FileState } from '../../../../core/src/change.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { hashOf, isDraft, isFileName, keptDraftName, treeBytes, treeName, UndoFolder } from './undo-folder.ts'

let base: string
let path: string
let folder: UndoFolder
beforeEach(() => {
  base = temporaryFolder('undo-folder')
  path = join(base, 'undo')
  mkdirSync(path)
  folder = new UndoFolder(path)
})

const stateOf = (text: string): FileState => ({ sha256: sha256(text), bytes: Buffer.byteLength(text), mode: 0o644 })
const source = (name: string, text: string) => {
  writeFileSync(join(base, name), text)
  return join(base, name)
}
const keep = (name: string, text: string, maxBytes = 1_000) =>
  folder.keepFile(source(name, text), stateOf(text), maxBytes)
const content = (text: string) => readFileSync(join(path, sha256(text)), 'utf8')

describe('the room for what is kept', () => {
  it('is used up to the last byte', async () => {
    expect(await keep('a', '12345', 10)).toBeUndefined()
    expect(await keep('b', '123456', 10)).toBe(
      '6 bytes more would not fit: the undo journal of this run holds 5 bytes of 10 bytes',
    )
    expect(await keep('c', '67890', 10)).toBeUndefined()
    expect(await keep('d', '1', 10)).toMatch(/holds 10 bytes of 10 bytes$/)
  })

  it('is freed when the file was changed, is gone or cannot be read', async () => {
    expect(await folder.keepFile(source('a', 'longer'), stateOf('short'), 5)).toBe('it was changed while it was kept')
    await expect(folder.keepFile(join(base, 'gone'), stateOf('short'), 5)).rejects.toThrow('ENOENT')
    linkSync(source('b', 'other'), join(base, 'b2'))
    expect(await folder.keepFile(join(base, 'b'), stateOf('short'), 5)).toBe('it was changed while it was kept')
    expect(await keep('c', '12345', 5)).toBeUndefined()
    expect(readdirSync(path)).toEqual([sha256('12345')])
  })

  it.each([
    [999, '999 bytes'],
    [1_000, '1 KB'],
    [1_250, '1.3 KB'],
    [999_900, '999.9 KB'],
    [1_000_000, '1 MB'],
    [1_234_567_890, '1,234.6 MB'],
  ])('is shown in the unit that suits it: %d', async (bytes, shown) => {
    expect(await folder.placeForTree(bytes, 1)).toEqual({
      refusal: `${shown} more would not fit: the undo journal of this run holds 0 bytes of 1 bytes`,
    })
  })

  it('is measured once, with files, trees and nothing else', async () => {
    writeFileSync(join(path, sha256('kept')), 'kept')
    writeFileSync(join(path, `${sha256('kept')}.0123456789ab`), 'half of it')
    mkdirSync(join(path, 'tree-5-0123456789abcdef'))
    writeFileSync(join(path, 'notes.txt'), 'of somebody else')
    const held = async () => {
      const place = await folder.placeForTree(1_000, 999)
      return 'refusal' in place ? /holds (.*) of/.exec(place.refusal!)![1] : undefined
    }
    expect(await held()).toBe('9 bytes')
    expect(readdirSync(path)).toHaveLength(3)
    writeFileSync(join(path, sha256('later')), 'later')
    expect(await held()).toBe('9 bytes')
    const missing = new UndoFolder(join(base, 'missing'))
    await expect(missing.placeForTree(1, 9)).rejects.toThrow('ENOENT')
    mkdirSync(join(base, 'missing'))
    expect(await missing.placeForTree(1, 9)).toHaveProperty('path')
  })

  it('is freed by a tree that did not come', async () => {
    const place = await folder.placeForTree(6, 10)
    if (!('path' in place)) throw new Error(place.refusal)
    expect(place.path).toBe(join(path, place.name))
    expect(treeBytes(place.name)).toBe(6)
    expect(await folder.placeForTree(5, 10)).toHaveProperty('refusal')
    place.release!()
    expect(await folder.placeForTree(10, 10)).toHaveProperty('path')
  })
})

describe('a file that is kept', () => {
  it('is a copy of its own for its owner alone where the file has other names', async () => {
    linkSync(source('a', 'old'), join(base, 'b'))
    chmodSync(join(base, 'a'), 0o644)
    expect(await folder.keepFile(join(base, 'a'), stateOf('old'), 100)).toBeUndefined()
    const kept = statSync(join(path, sha256('old')))
    expect([kept.mode & 0o777, kept.nlink]).toEqual([0o600, 1])
    expect(readdirSync(path)).toEqual([sha256('old')])
  })

  it('is kept anew when its name was changed, cut off or taken by something else', async () => {
    linkSync(source('a', 'old'), join(base, 'a2'))
    const again = async () => {
      expect(await folder.keepFile(join(base, 'a'), stateOf('old'), 100)).toBeUndefined()
      expect(content('old')).toBe('old')
    }
    await again()
    const name = join(path, sha256('old'))
    const { ino } = statSync(name)
    await again()
    expect(statSync(name).ino).toBe(ino)
    writeFileSync(name, 'o')
    await again()
    writeFileSync(name, 'new')
    utimesSync(name, 1, 1)
    await again()
    rmSync(name)
    await again()
    rmSync(name)
    mkdirSync(join(name, 'below'), { recursive: true })
    await again()
    rmSync(name)
    symlinkSync(join(base, 'a'), name)
    await again()
    expect(statSync(name).isFile()).toBe(true)
  })

  it('is looked at when it was kept by a process before', async () => {
    writeFileSync(join(path, sha256('right')), 'right')
    writeFileSync(join(path, sha256('wrong')), 'false')
    const { ino } = statSync(join(path, sha256('right')))
    expect(await keep('a', 'right', 10)).toBeUndefined()
    expect(statSync(join(path, sha256('right'))).ino).toBe(ino)
    expect(await keep('b', 'wrong', 10)).toBeUndefined()
    expect(content('wrong')).toBe('wrong')
  })

  it('is made durable, also when that failed before', async () => {
    await folder.secure(sha256('never kept'))
    await keep('a', 'old')
    const name = join(path, sha256('old'))
    rmSync(name)
    await expect(folder.secure(sha256('old'))).rejects.toThrow('ENOENT')
    writeFileSync(name, 'old')
    const secured = folder.secure(sha256('old'))
    expect(folder.secure(sha256('old'))).toBe(secured)
    await secured
  })
})

describe('a name below undo/', () => {
  const hash = 'a'.repeat(64)
  it.each([
    [hash, true, false, undefined],
    [`x${hash}`, false, false, undefined],
    [`${hash}x`, false, false, undefined],
    [`${hash}.0123456789ab`, false, true, undefined],
    [`x${hash}.0123456789ab`, false, false, undefined],
    [`${hash}.0123456789abc`, false, false, undefined],
    ['tree-12-0123456789abcdef', false, false, 12],
    ['xtree-12-0123456789abcdef', false, false, undefined],
    ['tree-12-0123456789abcdef0', false, false, undefined],
    [`tree-${'1'.repeat(16)}-0123456789abcdef`, false, false, undefined],
  ])('%s', (name, isFile, isHalf, bytes) => {
    expect([isFileName(name), isDraft(name), treeBytes(name)]).toEqual([isFile, isHalf, bytes])
  })

  it('is free', () => {
    expect(treeBytes(treeName(7))).toBe(7)
    expect(isDraft(keptDraftName(hash))).toBe(true)
    expect(keptDraftName(hash)).not.toBe(keptDraftName(hash))
  })

  it('is the hash of any content', async () => {
    const text = 'x'.repeat(200_000)
    expect(await hashOf(source('large', text))).toBe(sha256(text))
    symlinkSync(join(base, 'large'), join(base, 'link'))
    await expect(hashOf(join(base, 'link'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
