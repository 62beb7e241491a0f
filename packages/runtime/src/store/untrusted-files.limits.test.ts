import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { UntrustedFiles } from './untrusted-files.ts'
import { timeAfter, timeBefore } from './write-periods.ts'

function world() {
  const folder = temporaryFolder('untrusted-limits')
  const root = join(folder, 'root')
  mkdirSync(root)
  const journal = join(folder, 'data', 'untrusted-files.jsonl')
  const at = (name: string) => join(root, name)
  const write = (name: string) => {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), 'x')
  }
  /** File times have ticks of some milliseconds: returns when what is written next has a later one. */
  const passTick = () => {
    const now = timeAfter([root])
    while (timeBefore([root]) <= now);
  }
  /** Writes files as a command of a tainted run does. */
  const writeTainted = (files: UntrustedFiles, ...names: string[]) => {
    passTick()
    const id = files.begin([root])
    for (const name of names) write(name)
    files.end(id, [root])
    passTick()
  }
  return { root, journal, at, write, writeTainted, files: new UntrustedFiles(journal) }
}

describe('a label', () => {
  it('is written once while its file exists, and told each time before something is written there', () => {
    const { journal, at, write, files } = world()
    const told: string[] = []
    files.onLabel = (path) => told.push(path)
    for (const name of ['a', 'a', 'b']) {
      files.add(at(name))
      write(name)
    }
    expect(told).toEqual([at('a'), at('a'), at('b')])
    expect(readFileSync(journal, 'utf8')).toBe(`${JSON.stringify(at('a'))}\n${JSON.stringify(at('b'))}\n`)
    expect(statSync(journal).mode & 0o777).toBe(0o600)
  })

  it('survives a loss of power once it is synced', async () => {
    const { at, files } = world()
    expect(files.synced()).toBeUndefined()
    files.add(at('a'))
    await files.synced()
    expect(files.synced()).toBeUndefined()
    files.add(at('b'))
    expect(files.synced()).toBeInstanceOf(Promise)
    await files.synced()
  })

  it('is held by the folders above the file, and by no other', () => {
    const { root, at, files } = world()
    files.add(at('d/e/a'))
    expect([root, at('d'), at('d/e'), at('d/e/a')].map((path) => files.holds(path))).toEqual([true, true, true, true])
    expect([at('d/e/b'), at('x'), at('d/e/a2')].map((path) => files.holds(path))).toEqual([false, false, false])
  })

  it('is one of at most 100,000', () => {
    const { journal, at, files } = world()
    files.add(at('first'))
    const more = Array.from({ length: 99_998 }, (_, n) => `"/f${n}"\n`).join('')
    appendFileSync(journal, more)
    files.add(at('last'))
    expect(() => files.add(at('more'))).toThrow(
      expect.objectContaining({
        code: 'RECORDS_UNAVAILABLE',
        message: '100000 files are labelled as from outside, and no more can be.',
        fix: { hint: 'Look at them with tool-hub labels, and clear those that you trust.' },
      }),
    )
    files.add(at('last'))
  })

  it('goes with a file that a command moves with its folder', () => {
    const { root, at, write, files } = world()
    write('d/a')
    files.add(at('d/a'))
    const id = files.begin([root])
    renameSync(at('d'), at('e'))
    files.end(id, [root])
    expect(files.has(at('e/a'))).toBe(true)
  })
})

describe('what a command of a tainted run has written', () => {
  it('is held by its folder, listed and found, where it is not hidden', async () => {
    const { root, at, write, writeTainted, files } = world()
    write('clean/a')
    write('labelled')
    files.add(at('labelled'))
    files.add(at('gone'))
    writeTainted(files, 'dirty/b')
    expect([files.has(at('dirty/b')), files.has(at('clean/a'))]).toEqual([true, false])
    expect([files.holds(at('dirty')), files.holds(at('clean')), files.holds(root)]).toEqual([true, false, true])
    expect([...files.list()].sort()).toEqual([at('dirty'), at('dirty/b'), at('labelled')])
    expect([...files.list([at('dirty')])].sort()).toEqual([at('dirty'), at('labelled')])
    expect(await files.find({ sees: [root], hidden: [] })).toBe(at('labelled'))
    expect(await files.find({ sees: [at('clean')], hidden: [] })).toBeUndefined()
    expect(await files.find({ sees: [root], hidden: [at('labelled'), at('dirty')] })).toBeUndefined()
    const dirty = { sees: [at('dirty')], hidden: [] }
    expect([await files.find(dirty), await files.find(dirty)]).toEqual([at('dirty'), at('dirty')])
  })

  it('is found among more files than are looked at in one turn', async () => {
    const { root, at, writeTainted, files } = world()
    for (let n = 0; n < 1_200; n++) writeFileSync(at(`clean${n}`), '')
    writeTainted(files, 'dirty')
    expect(await files.find({ sees: [root], hidden: [] })).toBe(at('dirty'))
  })

  it('is trusted once the owner clears it, and stays as it is', () => {
    const { root, at, writeTainted, files } = world()
    writeTainted(files, 'd/a', 'b')
    chmodSync(at('d/a'), 0o640)
    symlinkSync('a', at('d/link'))
    files.clear(at('d'))
    expect([files.has(at('d/a')), files.holds(at('d')), files.has(at('b'))]).toEqual([false, false, true])
    expect(statSync(at('d/a')).mode & 0o777).toBe(0o640)
    files.clear(root)
    expect([...files.list()]).toEqual([])
    files.clear(at('nowhere'))
  })
})

describe('a label that cannot be cleared', () => {
  it('is that of a folder above', () => {
    const { at, files } = world()
    files.add(at('d'))
    files.add(at('d2/a'))
    expect(() => files.clear(at('d/e/a'))).toThrow(
      expect.objectContaining({
        code: 'CONFLICT',
        message: `The folder ${at('d')} is labelled as a whole.`,
        fix: { hint: `Clear ${at('d')}.` },
      }),
    )
    files.clear(at('d'))
    expect([files.has(at('d/e/a')), files.has(at('d2/a'))]).toEqual([false, true])
  })

  it('is in a folder that a command is writing to', () => {
    const { root, at, files } = world()
    mkdirSync(at('d'))
    const id = files.begin([at('d')])
    const refused = expect.objectContaining({
      code: 'CONFLICT',
      message: `A command of a tainted run is writing to ${at('d')}.`,
      fix: { hint: 'Wait for its end, or end it, and clear the label then.' },
    })
    for (const path of [at('d/a'), at('d'), root]) expect(() => files.clear(path)).toThrow(refused)
    files.clear(at('e'))
    files.end(id, [at('d')])
    files.clear(at('d/a'))
  })
})

it('says where labels cannot be written down', async () => {
  const { journal, at, files } = world()
  files.add(at('a'))
  rmSync(journal)
  await expect(files.synced()).rejects.toMatchObject({
    code: 'RECORDS_UNAVAILABLE',
    message: expect.stringContaining(`Which files are from outside cannot be written down in ${journal}: ENOENT`),
  })
  expect(files.has(at('a'))).toBe(true)
})

it('other work continues while many labels are renewed before a command', async () => {
  const { root, at, write, files } = world()
  for (let index = 0; index < 1_200; index++) {
    write(`f${index}`)
    files.add(at(`f${index}`))
  }
  let turns = 0
  let timer: NodeJS.Immediate
  const count = () => {
    turns++
    timer = setImmediate(count)
  }
  count()
  const id = await files.beginFirst([root])
  clearImmediate(timer!)
  files.end(id, [root])
  expect(turns).toBeGreaterThan(2)
})
