import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import {
  asRunHead,
  type Head,
  readHead,
  readHeadSync,
  readLastHead,
  readLastHeadSync,
  writeHead,
  writeLastHead,
} from './head.ts'

let folder: string
beforeEach(() => {
  folder = temporaryFolder('head')
})

const HASH = '0123456789abcdef'.repeat(4)
const head: Head = {
  run: 'r',
  seq: 9,
  hash: HASH,
  bytes: 100,
  toolsBytes: 20,
  errorsBytes: 10,
  calls: 3,
  failures: 1,
  started: '2026-01-01T00:00:00.000Z',
  ended: '2026-01-01T00:00:01.000Z',
}
const put = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))

describe('the head of a run', () => {
  it('is read as it was written, in a file that only its owner can read', async () => {
    expect(await readHead(folder)).toBeUndefined()
    expect(readHeadSync(folder)).toBeUndefined()
    await writeHead(folder, { ...head, seq: 8 })
    await writeHead(folder, head)
    expect(await readHead(folder)).toEqual(head)
    expect(readHeadSync(folder)).toEqual(head)
    expect(readdirSync(folder)).toEqual(['head.json'])
    expect(statSync(join(folder, 'head.json')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, 'head.json'), 'utf8')).toBe(`${JSON.stringify(head)}\n`)
  })

  it.each(Object.keys(head) as Array<keyof Head>)(
    'is broken without %s, and with something else in it',
    async (key) => {
      const { [key]: value, ...others } = head
      for (const broken of [
        others,
        { ...head, [key]: typeof value === 'string' ? 1 : '1' },
        { ...head, [key]: null },
      ]) {
        put('head.json', broken)
        expect(await readHead(folder)).toBe('broken')
        expect(readHeadSync(folder)).toBeUndefined()
      }
    },
  )

  it('is broken when it is no JSON, is longer than 20 KiB or is a link', async () => {
    writeFileSync(join(folder, 'head.json'), '{')
    expect(await readHead(folder)).toBe('broken')
    const text = JSON.stringify(head)
    writeFileSync(join(folder, 'head.json'), text.padEnd(20_480))
    expect(await readHead(folder)).toEqual(head)
    writeFileSync(join(folder, 'head.json'), text.padStart(20_481))
    expect(await readHead(folder)).toBe('broken')
    mkdirSync(join(folder, 'other'))
    symlinkSync(join(folder, 'head.json'), join(folder, 'other/head.json'))
    expect(await readHead(join(folder, 'other'))).toBe('broken')
    expect(() => readHeadSync(join(folder, 'other'))).toThrow('is a symbolic link')
  })

  it('is refused when others could have written it, and leaves nothing behind when it cannot be written', async () => {
    await writeHead(folder, head)
    chmodSync(join(folder, 'head.json'), 0o666)
    expect(() => readHeadSync(folder)).toThrow('can be written by other users')
    mkdirSync(join(folder, 'taken/head.json/x'), { recursive: true })
    await expect(writeHead(join(folder, 'taken'), head)).rejects.toThrow('EISDIR')
    expect(readdirSync(join(folder, 'taken'))).toEqual(['head.json'])
    writeFileSync(join(folder, 'file'), '')
    await expect(readHead(join(folder, 'file'))).rejects.toThrow('ENOTDIR')
    await expect(readLastHead(join(folder, 'file'))).rejects.toThrow('ENOTDIR')
    expect(() => readHeadSync(join(folder, 'file'))).toThrow('ENOTDIR')
  })
})

describe('the head of the run that was closed last', () => {
  it('is read as it was written', async () => {
    expect(readLastHeadSync(folder)).toBeUndefined()
    expect(await readLastHead(folder)).toBeUndefined()
    await writeLastHead(folder, head)
    expect(JSON.parse(readFileSync(join(folder, 'last-head.json'), 'utf8'))).toEqual({ run: 'r', seq: 9, hash: HASH })
    expect(readLastHeadSync(folder)).toEqual({ run: 'r', seq: 9, hash: HASH })
    expect(await readLastHead(folder)).toEqual({ run: 'r', seq: 9, hash: HASH })
  })

  it.each([
    ['null', null],
    ['a run that is not a text', { run: 1, seq: 9, hash: HASH }],
    ['no number', { run: 'r', seq: 1.5, hash: HASH }],
    ['a short hash', { run: 'r', seq: 9, hash: HASH.slice(1) }],
    ['text before the hash', { run: 'r', seq: 9, hash: `x${HASH}` }],
    ['text behind the hash', { run: 'r', seq: 9, hash: `${HASH}x` }],
  ])('is none with %s', async (_name, value) => {
    expect(asRunHead(value)).toBeUndefined()
    put('last-head.json', value)
    expect(readLastHeadSync(folder)).toBeUndefined()
    expect(await readLastHead(folder)).toBe('broken')
  })

  it('is broken when it is longer than 4 KiB or is a link', async () => {
    const text = JSON.stringify({ run: 'r', seq: 9, hash: HASH })
    writeFileSync(join(folder, 'last-head.json'), text.padEnd(4_096))
    expect(await readLastHead(folder)).toMatchObject({ seq: 9 })
    writeFileSync(join(folder, 'last-head.json'), text.padStart(4_097))
    expect(await readLastHead(folder)).toBe('broken')
    mkdirSync(join(folder, 'other'))
    symlinkSync(join(folder, 'last-head.json'), join(folder, 'other/last-head.json'))
    expect(await readLastHead(join(folder, 'other'))).toBe('broken')
  })
})
