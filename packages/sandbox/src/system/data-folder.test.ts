import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { adoptDataFolder, markDataFolder, prepareDataFolder, prepareMissingDataFolder } from './data-folder.ts'

let base: string
let folder: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'data-folder-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  folder = join(base, 'data')
})

const MARK = 'created.json'
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const isRoot = process.geteuid?.() === 0

function refusal(prepare = prepareDataFolder) {
  try {
    prepare(folder)
    return 'accepted'
  } catch (error) {
    return error
  }
}

describe('a data folder that the hub makes', () => {
  it('is for this user alone, with all folders above it, and is the same one the next time', () => {
    folder = join(base, 'a/b/data')
    prepareDataFolder(folder)
    expect([modeOf(folder), modeOf(join(base, 'a'))]).toEqual(['700', '700'])
    expect(modeOf(join(folder, MARK))).toBe('600')
    const mark = readFileSync(join(folder, MARK), 'utf8')
    writeFileSync(join(folder, 'store.db'), 'data')
    prepareDataFolder(folder)
    expect(readFileSync(join(folder, MARK), 'utf8')).toBe(mark)
    expect(readdirSync(folder).sort()).toEqual([MARK, 'store.db'])
  })

  it('may be an empty one that somebody made, which is closed to others', () => {
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    prepareDataFolder(folder)
    expect([modeOf(folder), readdirSync(folder)]).toEqual(['700', [MARK]])
  })

  it.skipIf(!isRoot)('may be a file system that was just made, with its lost+found', () => {
    mkdirSync(join(folder, 'lost+found'), { recursive: true })
    prepareDataFolder(folder)
    prepareDataFolder(folder)
    expect(readdirSync(folder).sort()).toEqual(['created.json', 'lost+found'])
  })

  it.skipIf(!isRoot).each<[string, () => void]>([
    ['belongs to somebody else', () => chownSync(join(folder, 'lost+found'), 1_000, 1_000)],
    ['is not alone', () => writeFileSync(join(folder, 'store.db'), '')],
    [
      'is a link',
      () => {
        rmSync(join(folder, 'lost+found'), { recursive: true })
        symlinkSync('/', join(folder, 'lost+found'))
      },
    ],
  ])('is refused if its lost+found %s', (_, change) => {
    mkdirSync(join(folder, 'lost+found'), { recursive: true })
    change()
    expect(() => prepareDataFolder(folder)).toThrow(/was not made by tool-hub on this machine/)
  })

  it('is still the same one after it was moved', () => {
    prepareDataFolder(folder)
    writeFileSync(join(folder, 'store.db'), 'data')
    renameSync(folder, join(base, 'moved'))
    folder = join(base, 'moved')
    expect(refusal()).toBe('accepted')
  })

  it('is only made where it is missing, when a file in it is about to be made', () => {
    prepareMissingDataFolder(folder)
    expect(existsSync(join(folder, MARK))).toBe(true)
    rmSync(join(folder, MARK))
    writeFileSync(join(folder, 'store.db'), 'data')
    expect(refusal(prepareMissingDataFolder)).toBe('accepted')
  })

  it('is one folder for processes that make it at the same time', async () => {
    const module = await bundleModule(join(import.meta.dirname, 'data-folder.ts'))
    const source = `
      import { prepareDataFolder } from ${JSON.stringify(module)}
      import { writeFileSync } from 'node:fs'
      process.stdin.once('data', () => {
        prepareDataFolder(${JSON.stringify(folder)})
        writeFileSync(${JSON.stringify(folder)} + '/of-' + process.pid, '')
        process.exit(0)
      })
      process.stdout.write('ready')`
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] }),
    )
    const ends = children.map((child) => once(child, 'close'))
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    for (const child of children) child.stdin.write('go')
    expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0, 0, 0])
    expect(readdirSync(folder).filter((name) => name.startsWith(MARK))).toEqual([MARK])
    expect(refusal()).toBe('accepted')
  })
})

describe('a data folder is refused', () => {
  it('when it came with a copy, until its owner adopts it', () => {
    const other = join(base, 'other')
    prepareDataFolder(other)
    writeFileSync(join(other, 'grants.json'), '[]')
    cpSync(other, folder, { recursive: true })
    chmodSync(folder, 0o750)
    expect(refusal()).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${folder} was not made by tool-hub`),
      fix: { hint: expect.stringContaining('store adopt') },
      details: { folder },
    })
    adoptDataFolder(folder)
    expect([refusal(), modeOf(folder)]).toEqual(['accepted', '700'])
    expect(readdirSync(folder).sort()).toEqual([MARK, 'grants.json'])
  })

  it('when its mark is gone, damaged, of another version or of another folder', () => {
    prepareDataFolder(folder)
    writeFileSync(join(folder, 'grants.json'), '[]')
    const mark = JSON.parse(readFileSync(join(folder, MARK), 'utf8'))
    const marks = [
      { ...mark, version: 2 },
      { ...mark, ino: '1' },
      { ...mark, born: '1' },
    ].map((it) => JSON.stringify(it))
    for (const text of [...marks, JSON.stringify(mark).slice(0, -5), '', 'null']) {
      writeFileSync(join(folder, MARK), text)
      expect([text, refusal()]).toEqual([text, expect.objectContaining({ code: 'CONFIG_INVALID' })])
    }
    rmSync(join(folder, MARK))
    expect(refusal()).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('not when nothing but a mark is in it that was half written', () => {
    mkdirSync(folder)
    writeFileSync(join(folder, MARK), '{"version":1', { mode: 0o600 })
    writeFileSync(join(folder, `${MARK}.0a1b2c3d`), '', { mode: 0o600 })
    expect(refusal()).toBe('accepted')
    expect(JSON.parse(readFileSync(join(folder, MARK), 'utf8'))).toMatchObject({ version: 1 })
  })

  it('when its mark is longer than any that the hub writes', () => {
    prepareDataFolder(folder)
    const text = readFileSync(join(folder, MARK), 'utf8')
    writeFileSync(join(folder, MARK), text.padEnd(1_000))
    expect(refusal()).toBe('accepted')
    writeFileSync(join(folder, MARK), text.padEnd(1_001))
    expect(refusal()).toBeInstanceOf(Error)
  })

  it.each([
    { mode: 0o750, message: 'can be read by other users (mode 750)' },
    { mode: 0o701, message: 'can be read by other users (mode 701)' },
    { mode: 0o720, message: 'can be written by other users (mode 720)' },
    { mode: 0o702, message: 'can be written by other users (mode 702)' },
  ])('when others have access: $message', ({ mode, message }) => {
    prepareDataFolder(folder)
    chmodSync(folder, mode)
    expect(refusal()).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The data folder ${folder} ${message}.`,
      fix: { hint: expect.stringContaining(`chmod 700 ${folder}`) },
      details: { folder },
    })
  })

  it('when it is a link, wherever that leads, or a file', () => {
    prepareDataFolder(join(base, 'real'))
    symlinkSync('real', folder)
    const refused = expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `The data folder ${folder} is not a folder, but a link or a file.`,
    })
    expect(refusal()).toEqual(refused)
    expect(refusal(adoptDataFolder)).toMatchObject({ code: 'CONFIG_INVALID' })
    rmSync(folder)
    writeFileSync(folder, '')
    expect(refusal()).toEqual(refused)
    expect(refusal(adoptDataFolder)).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('when it cannot be made', () => {
    writeFileSync(folder, '')
    const below = join(folder, 'data')
    expect(() => prepareDataFolder(below)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `The data folder ${below} cannot be made (ENOTDIR).`,
      }),
    )
  })

  it('when there is nothing to adopt', () => {
    expect(refusal(adoptDataFolder)).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(existsSync(folder)).toBe(false)
  })

  // Only root can make a folder that belongs to somebody else.
  it.runIf(isRoot).each([
    ['prepared', prepareDataFolder],
    ['adopted', adoptDataFolder],
  ])('when another user owns it, however it is %s', (_, prepare) => {
    mkdirSync(folder, { mode: 0o700 })
    markDataFolder(folder)
    chownSync(folder, 65_534, 65_534)
    expect(refusal(prepare)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The data folder ${folder} belongs to user 65534, not to you (user 0).`,
      fix: { hint: expect.stringContaining(`chown -R 0 ${folder}`) },
    })
  })
})
