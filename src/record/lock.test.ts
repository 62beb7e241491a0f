import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleModule } from '../../test/support/run-module.ts'
import { isLocked, takeLock } from './lock.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-lock-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** No process has this id: it is above the largest that Linux gives. */
const DEAD = JSON.stringify({ pid: 2 ** 30, started: '1', host: hostname(), token: 'dead' })

describe('takeLock', () => {
  it('is free after its release, and held in between', async () => {
    const path = join(folder, 'simple')
    const lock = takeLock(path, 'It')
    expect(await isLocked(path)).toBe(true)
    expect(() => takeLock(path, 'It')).toThrowError(expect.objectContaining({ code: 'CONFLICT' }))
    lock.release()
    lock.release()
    expect(await isLocked(path)).toBe(false)
    takeLock(path, 'It').release()
  })

  it('takes over from a process that is gone, also when the one that did so before died on the way', async () => {
    const path = join(folder, 'stale')
    await writeFile(path, DEAD)
    await writeFile(`${path}.turn`, DEAD)
    expect(await isLocked(path)).toBe(false)
    takeLock(path, 'It').release()
    expect((await readdir(folder)).filter((name) => name.startsWith('stale'))).toEqual([])
  })

  it('knows that a process id was given to another process meanwhile', async () => {
    const path = join(folder, 'reused')
    await writeFile(path, JSON.stringify({ pid: process.pid, started: '1', host: hostname(), token: 'x' }))
    takeLock(path, 'It').release()
  })

  it('does not release the lock of somebody else', async () => {
    const path = join(folder, 'other')
    const lock = takeLock(path, 'It')
    await writeFile(path, DEAD)
    lock.release()
    expect(await readdir(folder)).toContain('other')
  })

  it('gives each of 400 locks of dead processes to exactly one of six that race for all', async () => {
    const module = await bundleModule(join(import.meta.dirname, 'lock.ts'))
    const race = join(folder, 'race')
    await mkdir(race)
    const names = Array.from({ length: 400 }, (_, index) => String(index))
    await Promise.all(names.map((name) => writeFile(join(race, name), DEAD)))
    const source = `
      import { takeLock } from ${JSON.stringify(module)}
      const [race, begin, names] = ${JSON.stringify([race, Date.now() + 1_000, names])}
      while (Date.now() < begin);
      for (const name of names) { try { takeLock(race + '/' + name, 'It'); console.log(name) } catch (error) { if (error.code !== 'CONFLICT') throw error } }
      console.log('done')
      process.stdin.resume()`
    const racers = names.slice(0, 6).map(() => {
      const racer = spawn(process.execPath, ['--input-type=module', '-e', source], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      return { racer, output: text(racer.stdout), done: ended(racer.stdout) }
    })
    await Promise.all(racers.map(({ done }) => done))
    for (const { racer } of racers) racer.stdin.end()
    const taken = (await Promise.all(racers.map(({ output }) => output))).flatMap((output) => output.trim().split('\n'))
    expect(taken.filter((name) => name !== 'done').sort()).toEqual([...names].sort())
    expect((await readdir(race)).sort()).toEqual([...names].sort())
  })
})

/** Resolves when a racer has tried all locks; it must live on till all have, or its locks would be free again. */
function ended(output: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    output.on('data', (chunk: Buffer) => {
      if (String(chunk).includes('done')) resolve()
    })
  })
}
