import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { checkQuiet, checkSteady, exchanged, isSameEntry, type SteadyFolder } from './steady-folder.ts'

let root: string

beforeEach(() => {
  root = temporaryFolder('steady-folder')
  mkdirSync(join(root, 'd'))
})

const errno = (expected: string) => expect.objectContaining({ code: expected })

describe('a steady folder', () => {
  const steady = (path: string, above?: SteadyFolder): SteadyFolder => {
    const { dev, ino } = statSync(path, { bigint: true })
    return { path: Buffer.from(path).toString('latin1'), dev, ino, above }
  }
  const looks = (folder: SteadyFolder, sinceMs: number) => {
    let count = 0
    checkSteady(folder, sinceMs, () => {
      count += 1
      return true
    })
    return count
  }

  it('is looked at 24 times unless the folders above it are old', () => {
    const folder = steady(join(root, 'd'), steady(root))
    const changedMs = Number(statSync(root, { bigint: true }).ctimeNs / 1_000_000n)
    writeFileSync(join(root, 'd/later'), '')
    expect([0, changedMs, changedMs + 25].map((since) => looks(folder, since))).toEqual([24, 24, 24])
    expect([changedMs + 26, changedMs + 9_999].map((since) => looks(folder, since))).toEqual([0, 0])
    expect(looks(steady(root), 0)).toBe(0)
  })

  it('is refused once it is seen elsewhere', () => {
    const folder = steady(join(root, 'd'), steady(root))
    expect(() => checkSteady(folder, 0, () => false)).toThrow(errno('CONFLICT'))
    for (const make of [
      () => renameSync(join(root, 'd'), join(root, 'gone')),
      () => writeFileSync(join(root, 'd'), ''),
    ]) {
      make()
      expect(() => checkSteady(folder, 0, () => true)).toThrow(errno('CONFLICT'))
      expect(() => checkQuiet(folder)).toThrow(errno('CONFLICT'))
    }
    const below = { ...folder, path: `${folder.path}/x` }
    expect(() => checkQuiet(below)).toThrow(errno('CONFLICT'))
  })

  it('is the same by its device and its number, and is named as text', () => {
    const one = { dev: 1n, ino: 2n }
    expect([one, { dev: 2n, ino: 2n }, { dev: 1n, ino: 1n }].map((other) => isSameEntry(one, other))).toEqual([
      ...[true, false, false],
    ])
    expect(exchanged(Buffer.from('/é').toString('latin1')).message).toMatch(/^"\/é", or a folder above it/)
  })
})
