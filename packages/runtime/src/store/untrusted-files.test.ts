import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { currentProcess } from '../../../sandbox/src/system/processes.ts'
import { UntrustedFiles } from './untrusted-files.ts'

function world() {
  const folder = temporaryFolder('untrusted')
  const root = join(folder, 'root')
  mkdirSync(root)
  const file = join(folder, 'data', 'untrusted-files.jsonl')
  const open = () => new UntrustedFiles(file)
  const at = (name: string) => join(root, name)
  const write = (name: string) => writeFileSync(at(name), 'x')
  const sight = { sees: [root], hidden: [] }
  return { file, root, open, at, write, sight, first: open() }
}

describe('labels', () => {
  it('are seen by every process on the same data, also after a line that a crash has cut', () => {
    const { file, open, at, first } = world()
    const other = open()
    expect(other.has(at('a'))).toBe(false)
    first.add(at('a'))
    expect(other.has(at('a'))).toBe(true)
    appendFileSync(file, '"/cut')
    first.add(at('b'))
    expect([other.has(at('b')), open().has(at('b'))]).toEqual([true, true])
  })

  it('are found among several files of a folder, as soon as another process has added them', () => {
    const { root, open, at, write, first } = world()
    const other = open()
    expect(other.hasAny(root, ['a', 'b'])).toBe(false)
    first.add(at('b'))
    expect([other.hasAny(root, ['a', 'b']), other.hasAny(root, ['a', 'c'])]).toEqual([true, false])
    expect([other.hasAny(root, []), other.hasAny('/', ['a'])]).toEqual([false, false])
    const id = first.begin([root])
    write('c')
    first.end(id, [root])
    expect(other.hasAny(root, ['a', 'c'])).toBe(true)
  })

  it('of a folder hold for all that is in it, and move with it', () => {
    const { at, first } = world()
    first.add(at('tree'))
    expect([first.has(at('tree/a/b')), first.has(at('tree2'))]).toEqual([true, false])
    first.addAll(first.movedTo(at('tree'), at('other')))
    expect(first.has(at('other/a/b'))).toBe(true)
  })
})

describe('what is written while a command of a tainted run runs', () => {
  it('is labelled until it is gone, wherever it is moved, and then nothing is looked for', async () => {
    const { root, at, write, sight, first } = world()
    const id = first.begin([root])
    mkdirSync(at('made'))
    write('made/a')
    expect(await first.find(sight)).toBe(root)
    first.end(id, [root])
    renameSync(at('made'), at('moved'))
    expect(first.has(at('moved/a'))).toBe(true)
    expect(await first.find(sight)).toContain(at('moved'))
    expect(await first.find({ ...sight, hidden: [at('moved')] })).toBeUndefined()
    expect(await first.find(sight)).toContain(at('moved'))
    rmSync(at('moved'), { recursive: true })
    expect(await first.find(sight)).toBeUndefined()
    expect([...first.list()]).toEqual([])
  })

  it('is labelled after more commands than are remembered one by one', () => {
    const { file, root, at, write, open, first } = world()
    const id = first.begin([root])
    write('early')
    first.end(id, [root])
    const after = Date.now() + 60_000
    const lines = Array.from({ length: 1_100 }, (_, count) => [
      { writing: `w${count}`, since: after + 2 * count, folders: [root], by: '' },
      { written: `w${count}`, until: after + 2 * count + 1 },
    ])
    appendFileSync(file, lines.flatMap((pair) => pair.map((line) => `${JSON.stringify(line)}\n`)).join(''))
    expect([first.has(at('early')), open().has(at('early'))]).toEqual([true, true])
  })

  it('ends with its hub, and with the longest time of a command where nobody can tell whether the hub lives', async () => {
    const { file, root, sight, first } = world()
    first.add(join(root, 'gone'))
    const dead = { ...currentProcess(), pid: spawnSync('true').pid, started: '1' }
    const elsewhere = { ...currentProcess(), space: 'another container' }
    const begin = (id: string, by: object, since: number) =>
      appendFileSync(file, `${JSON.stringify({ writing: id, since, folders: [root], by: JSON.stringify(by) })}\n`)
    begin('a', dead, Date.now())
    begin('b', elsewhere, Date.now() - 26 * 3_600_000)
    rmSync(root, { recursive: true })
    mkdirSync(root)
    expect(await first.find({ ...sight, sees: [join(root, 'nothing')] })).toBeUndefined()
    begin('c', elsewhere, Date.now())
    expect(await first.find(sight)).toBe(root)
  })
})
