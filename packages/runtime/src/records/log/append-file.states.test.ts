import { fdatasync, fstatSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestDisk } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { AppendFile } from './append-file.ts'

let path: string
beforeEach(() => {
  path = join(temporaryFolder('append-file'), 'lines')
})

const content = (of = path) => readFileSync(of, 'utf8')
const isOpen = (fd: number) => {
  try {
    fstatSync(fd)
    return true
  } catch {
    return false
  }
}

describe('a file that grows', () => {
  it('keeps lines until they are flushed, behind what is there', () => {
    writeFileSync(path, 'old\n', { mode: 0o600 })
    const file = new AppendFile(path)
    expect([file.bytes, file.hasWaiting, file.problem]).toEqual([4, false, undefined])
    file.append('néw\n')
    file.append('last\n')
    expect([content(), file.hasWaiting, file.bytes]).toEqual(['old\n', true, 4])
    expect(file.flush()).toBeUndefined()
    expect([content(), file.hasWaiting, file.bytes]).toEqual(['old\nnéw\nlast\n', false, 14])
    expect(file.flush()).toBeUndefined()
    file.close()
    expect(content()).toBe('old\nnéw\nlast\n')
  })

  it('is written with a text of any length, whatever its characters', () => {
    const file = new AppendFile(path)
    const texts = ['€'.repeat(87_381), '€'.repeat(87_382), '€'.repeat(300_000), 'x']
    for (const text of texts) {
      file.append(text)
      file.flush()
    }
    expect(content() === texts.join('')).toBe(true)
    expect(file.bytes).toBe(statSync(path).size)
    file.close()
  })

  it('is due from 65,536 waiting characters on, but not while the disk refuses', () => {
    const disk = new TestDisk({ left: 0 })
    const file = new AppendFile(path, disk)
    file.append('x'.repeat(65_535))
    expect(file.isDue).toBe(false)
    file.append('x')
    expect(file.isDue).toBe(true)
    file.flush()
    file.append('x'.repeat(65_536))
    expect(file.isDue).toBe(false)
    file.close()
  })

  it('is cut to its first bytes', () => {
    const file = new AppendFile(path)
    file.append('12345')
    file.flush()
    file.truncate(5)
    expect([content(), file.bytes]).toEqual(['12345', 5])
    file.truncate(2)
    expect([content(), file.bytes]).toEqual(['12', 2])
    file.append('x')
    file.flush()
    expect(content()).toBe('12x')
    file.close()
  })

  it('is refused when it has a second name', () => {
    writeFileSync(path, '', { mode: 0o600 })
    linkSync(path, `${path}-2`)
    const name = `${basename(dirname(path))}/lines`
    expect(() => new AppendFile(path)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `${name} has 2 names (hard links), so it may be a file of others.`,
        fix: { hint: `Put a copy in its place: cp ${name} copy, then mv copy ${name}; or use another run id.` },
        details: { path },
      }),
    )
  })
})

describe('a file on a disk that refuses', () => {
  it('keeps what the disk has not taken, apart from what others write, and says so until it is taken', () => {
    const disk = new TestDisk({ left: 3 })
    const file = new AppendFile(path, disk)
    const other = new AppendFile(`${path}-other`)
    file.append('abcdef\n')
    expect(file.flush()).toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: 'lines cannot be written: the disk is full (ENOSPC).',
      details: { path, errno: 'ENOSPC' },
    })
    expect([content(), file.hasWaiting, file.bytes]).toEqual(['abc', true, 3])
    other.append('0123456789\n')
    other.flush()
    file.append('ghi\n')
    expect(file.flush()).toBe(file.problem)
    disk.fixed = true
    expect(file.flush()).toBeUndefined()
    expect([content(), file.hasWaiting, file.bytes, file.problem]).toEqual(['abcdef\nghi\n', false, 11, undefined])
    file.close()
    other.close()
  })

  it('is full with more than 8 MiB, only while the disk refuses', () => {
    const disk = new TestDisk({ left: 0 })
    const file = new AppendFile(path, disk)
    const most = 8 * 1024 * 1024
    file.append('x'.repeat(most - 10))
    expect(file.isFull).toBe(false)
    file.flush()
    expect(file.isFull).toBe(false)
    file.append('x'.repeat(10))
    expect(file.isFull).toBe(false)
    file.append('x')
    expect(file.isFull).toBe(true)
    disk.fixed = true
    file.flush()
    expect([file.isFull, file.bytes]).toEqual([false, most + 1])
    file.append('x'.repeat(most + 1))
    expect(file.isFull).toBe(false)
    file.close()
  })

  it('is reported when the disk takes nothing, and is written one byte at a time', () => {
    const lazy = new AppendFile(path, { write: () => 0, sync: fdatasync })
    lazy.append('x')
    expect(lazy.flush()).toMatchObject({ code: 'RECORDS_UNAVAILABLE', cause: { message: 'The disk took nothing.' } })
    lazy.close()
    const slow = new AppendFile(path, new TestDisk({ most: 1 }))
    slow.append('abc')
    expect(slow.flush()).toBeUndefined()
    expect(content()).toBe('abc')
    slow.close()
  })

  it('stays refused once a sync has failed, if its lines are not as they were written', async () => {
    const failing = Object.assign(new Error('EIO'), { code: 'EIO' })
    let isFailing = true
    const disk = new TestDisk()
    const file = new AppendFile(path, {
      write: (fd, bytes, offset) => disk.write(fd, bytes, offset),
      sync: (fd, done) => (isFailing ? done(failing) : fdatasync(fd, done)),
    })
    file.append('x')
    await expect(file.synced()).rejects.toMatchObject({
      message: 'lines cannot be made durable: the disk failed (EIO).',
      details: { path },
    })
    isFailing = false
    file.append('y')
    expect(file.flush()).toBe(file.problem)
    expect(content()).toBe('xy')
    await expect(file.synced()).rejects.toBe(file.problem)
    file.close()
  })
})

describe('a file that is released', () => {
  it('has no descriptor until it is needed, and continues where it was', async () => {
    const file = new AppendFile(path)
    file.append('a')
    const { fd } = file
    file.release()
    expect(isOpen(fd)).toBe(true)
    file.flush()
    file.release()
    expect([isOpen(fd), file.isGone]).toEqual([false, false])
    file.release()
    file.append('b')
    file.flush()
    expect(content()).toBe('ab')
    file.release()
    await file.synced()
    file.close()
    expect(file.isGone).toBe(false)
  })

  it('keeps its descriptor while it is made durable', async () => {
    let begin: (finish: () => void) => void
    const begun = new Promise<() => void>((resolve) => {
      begin = resolve
    })
    const file = new AppendFile(path, {
      write: (fd, bytes, offset) => new TestDisk().write(fd, bytes, offset),
      sync: (_fd, done) => begin(() => done(null)),
    })
    const { fd } = file
    const synced = file.synced()
    const finish = await begun
    file.release()
    expect(isOpen(fd)).toBe(true)
    finish()
    await synced
    file.release()
    expect(isOpen(fd)).toBe(false)
    file.close()
  })

  it('is gone when somebody has removed it', async () => {
    const file = new AppendFile(path)
    rmSync(path)
    expect(file.isGone).toBe(false)
    file.release()
    expect(file.isGone).toBe(true)
    await expect(file.synced()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'lines cannot be opened: the folder cannot be used (ENOENT).',
      details: { path },
    })
    file.append('x')
    expect(file.flush()).toMatchObject({ message: 'lines cannot be written: the folder cannot be used (ENOENT).' })
    file.close()
    expect(file.isGone).toBe(false)
  })

  it.each([
    ['grew', () => writeFileSync(path, 'abc')],
    ['was replaced', () => [rmSync(path), writeFileSync(`${path}-2`, ''), writeFileSync(path, 'ab', { mode: 0o600 })]],
  ])('is not continued when it %s', (_name, change) => {
    const file = new AppendFile(path)
    file.append('ab')
    file.flush()
    file.release()
    change()
    const before = content()
    file.append('x')
    expect(file.flush()).toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: `${basename(dirname(path))}/lines was changed while nobody used it.`,
      fix: { hint: 'Run tool-hub audit verify, and use another run id.' },
      details: { path },
    })
    expect(content()).toBe(before)
    file.close()
  })
})

describe('a file that is closed', () => {
  it('gives up what waits and takes nothing more', async () => {
    const disk = new TestDisk({ left: 1 })
    const file = new AppendFile(path, disk)
    file.append('ab')
    file.flush()
    file.append('c')
    const { fd } = file
    file.close()
    disk.fixed = true
    expect([file.hasWaiting, isOpen(fd)]).toEqual([false, false])
    file.close()
    file.append('d')
    expect(file.flush()).toBe(file.problem)
    expect(file.problem).toBeDefined()
    file.release()
    expect(content()).toBe('a')
    const fresh = new AppendFile(`${path}-2`, disk)
    fresh.close()
    await fresh.synced()
    expect(disk.syncs).toBe(0)
  })
})
