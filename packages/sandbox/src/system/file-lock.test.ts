import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { isLocked, takeLock } from './file-lock.ts'
import { currentProcess } from './processes.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-lock-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const IT = { what: 'It', fix: { hint: 'Wait.' } }
/** No process has this id: it is above the largest that Linux gives. */
const DEAD = holder({ pid: 2 ** 30 })

describe('takeLock', () => {
  it('is free after its release, and held in between', async () => {
    const path = join(folder, 'simple')
    const lock = takeLock(path, IT)
    expect(await isLocked(path)).toBe(true)
    expect(() => takeLock(path, IT)).toThrowError(expect.objectContaining({ code: 'CONFLICT' }))
    lock.release()
    lock.release()
    expect(await isLocked(path)).toBe(false)
    takeLock(path, IT).release()
  })

  it('takes over from a process that is gone, also when the one that did so before died on the way', async () => {
    const path = join(folder, 'stale')
    await writeFile(path, DEAD)
    await writeFile(`${path}.turn`, DEAD)
    expect(await isLocked(path)).toBe(false)
    takeLock(path, IT).release()
    expect((await readdir(folder)).filter((name) => name.startsWith('stale'))).toEqual([])
  })

  it('knows that a process id was given to another process meanwhile', async () => {
    const path = join(folder, 'reused')
    await writeFile(path, holder({ started: '1' }))
    takeLock(path, IT).release()
  })

  it('takes a lock that a loss of power emptied', async () => {
    const path = join(folder, 'empty')
    await writeFile(path, '')
    expect(await isLocked(path)).toBe(false)
    takeLock(path, IT).release()
  })

  it('leaves a process alone that it cannot see, waits for it as long as said, and names it', async () => {
    const path = join(folder, 'elsewhere')
    await writeFile(path, holder({ pid: 7, space: 'far-away pid:[1]' }))
    expect(await isLocked(path)).toBe(true)
    const refusal = { code: 'CONFLICT', message: 'It is in use by process 7 on far-away.', fix: IT.fix }
    expect(() => takeLock(path, IT)).toThrow(expect.objectContaining({ ...refusal, retryable: false }))
    expect(() => takeLock(path, { ...IT, waitMs: 20 })).toThrow(
      expect.objectContaining({ ...refusal, retryable: true }),
    )
    expect((await readdir(folder)).filter((name) => name.startsWith('elsewhere'))).toEqual(['elsewhere'])
  })

  it('does not release the lock of somebody else', async () => {
    const path = join(folder, 'other')
    const lock = takeLock(path, IT)
    await writeFile(path, DEAD)
    lock.release()
    expect(await readdir(folder)).toContain('other')
  })

  it('refuses what is not a lock of ours, without waiting', async () => {
    const strange = join(folder, 'strange')
    await mkdir(strange)
    execFileSync('mkfifo', [join(strange, 'pipe')])
    await symlink('pipe', join(strange, 'link'))
    await mkdir(join(strange, 'folder'))
    await writeFile(join(strange, 'shared'), DEAD)
    await chmod(join(strange, 'shared'), 0o666)
    for (const name of ['pipe', 'link', 'folder', 'shared']) {
      expect(() => takeLock(join(strange, name), IT)).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(`strange/${name} `) }),
      )
      expect(await isLocked(join(strange, name))).toBe(false)
    }
    expect((await readdir(strange)).sort()).toEqual(['folder', 'link', 'pipe', 'shared'])
  })

  it('gives each of 400 locks of dead processes to exactly one of six that race for all', async () => {
    const module = await bundleModule(join(import.meta.dirname, 'file-lock.ts'))
    const race = join(folder, 'race')
    await mkdir(race)
    const names = Array.from({ length: 400 }, (_, index) => String(index))
    await Promise.all(names.map((name) => writeFile(join(race, name), DEAD)))
    const source = `
      import { takeLock } from ${JSON.stringify(module)}
      import { once } from 'node:events'
      const [race, names, it] = ${JSON.stringify([race, names, IT])}
      console.log('ready')
      await once(process.stdin, 'data')
      for (const name of names) { try { takeLock(race + '/' + name, it); console.log(name) } catch (error) { if (error.code !== 'CONFLICT') throw error } }
      console.log('done')
      process.stdin.resume()`
    const racers = names.slice(0, 6).map(() => {
      const racer = spawn(process.execPath, ['--input-type=module', '-e', source], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      return { racer, output: text(racer.stdout), ready: said(racer.stdout, 'ready'), done: said(racer.stdout, 'done') }
    })
    await Promise.all(racers.map(({ ready }) => ready))
    for (const { racer } of racers) racer.stdin.write('go\n')
    // Each must live on till all have tried all locks, or its own would be free again.
    await Promise.all(racers.map(({ done }) => done))
    for (const { racer } of racers) racer.stdin.end()
    const taken = (await Promise.all(racers.map(({ output }) => output))).flatMap((output) => output.trim().split('\n'))
    expect(taken.filter((name) => name !== 'ready' && name !== 'done').sort()).toEqual([...names].sort())
    expect((await readdir(race)).sort()).toEqual([...names].sort())
  })
})

describe('a lock that is taken and released all the time', () => {
  it('has one holder at a time', async () => {
    const module = await bundleModule(join(import.meta.dirname, 'file-lock.ts'))
    const path = join(folder, 'busy')
    const source = `
      import { takeLock } from ${JSON.stringify(module)}
      import { closeSync, openSync, rmSync } from 'node:fs'
      const [path, it] = ${JSON.stringify([path, IT])}
      for (let i = 0; i < 1500; ) {
        try {
          const lock = takeLock(path, it)
          closeSync(openSync(path + '-inside', 'wx'))
          rmSync(path + '-inside')
          lock.release()
          i++
        } catch (error) { if (error.code !== 'CONFLICT') throw error }
      }`
    const racers = ['a', 'b', 'c'].map(() =>
      once(spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'inherit' }), 'close'),
    )
    expect((await Promise.all(racers)).map(([code]) => code)).toEqual([0, 0, 0])
  })
})

/** The content of a lock of this process, or of another. */
function holder(other: Partial<ReturnType<typeof currentProcess>>): string {
  return JSON.stringify({ ...currentProcess(), token: 'x', ...other })
}

/** Resolves when a racer has printed this word. */
function said(output: NodeJS.ReadableStream, word: string): Promise<void> {
  return new Promise((resolve) => {
    output.on('data', (chunk: Buffer) => {
      if (String(chunk).includes(word)) resolve()
    })
  })
}
