import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { ReadFiles } from '../../../core/src/handles.ts'
import { asWritten } from './explain-path.ts'
import { quotePath, toFileError } from './file-error.ts'
import type { FilesCall } from './files-call.ts'
import { createFilesGuard } from './files-guard.ts'
import { openRoots } from './roots.ts'

const systemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'open' })

describe('an error of the file system', () => {
  it.each([
    ['ENOENT', 'NOT_FOUND', '"a/b" does not exist.'],
    ['ENOTDIR', 'NOT_FOUND', '"a/b" does not exist: a part of it is a file, not a folder.'],
    ['EEXIST', 'CONFLICT', '"a/b" exists already.'],
    ['EISDIR', 'INPUT_SCHEMA_INVALID', '"a/b" is a folder, not a file.'],
    ['ENAMETOOLONG', 'INPUT_SCHEMA_INVALID', '"a/b" is too long for this file system.'],
    ['EACCES', 'PATH_DENIED', '"a/b" is refused by the operating system.'],
    ['EPERM', 'PATH_DENIED', '"a/b" is refused by the operating system.'],
    ['EROFS', 'PATH_DENIED', '"a/b" is on a read-only file system.'],
    ['ELOOP', 'PATH_DENIED', '"a/b" became a link while it was opened.'],
    ['ENXIO', 'PATH_DENIED', '"a/b" is a socket or a device, not a regular file.'],
    ['ENOSPC', 'OUT_OF_RESOURCES', '"a/b" could not be written: the disk is full.'],
    ['EDQUOT', 'OUT_OF_RESOURCES', '"a/b" could not be written: the disk quota is used up.'],
    ['EMFILE', 'OUT_OF_RESOURCES', '"a/b" could not be opened: too many files are open.'],
    ['ENFILE', 'OUT_OF_RESOURCES', '"a/b" could not be opened: too many files are open.'],
    ['ENOMEM', 'OUT_OF_RESOURCES', '"a/b" could not be used: there is not enough memory.'],
    ['EIO', 'UPSTREAM_ERROR', '"a/b" failed with EIO.'],
  ])('%s says what it means for the caller', (errno, code, message) => {
    const cause = systemError(errno)
    expect(toFileError(cause, 'a/b')).toMatchObject({ code, message, cause })
  })

  it('is one that a call of the system made', () => {
    let thrown: unknown
    try {
      openSync('/no/such/file', 'r')
    } catch (error) {
      thrown = error
    }
    expect(toFileError(thrown, 'x')).toMatchObject({ code: 'NOT_FOUND', message: '"x" does not exist.' })
  })

  it('is nothing else: other errors stay as they are', () => {
    const others = [new Error('defect'), new ToolError('ABORTED', 'stopped'), 'text', undefined]
    const named = Object.assign(new ToolError('CONFLICT', 'no'), { syscall: 'open', errno: 2 })
    for (const error of [...others, named, { code: 'ENOENT', syscall: 'open' }])
      expect(toFileError(error, 'x')).toBe(error)
  })
})

describe('a path in a message', () => {
  it.each([
    ['a b', '"a b"'],
    ['a\n"b"', '"a\\n\\"b\\""'],
    ['x'.repeat(200), `"${'x'.repeat(200)}"`],
    ['x'.repeat(201), `"${'x'.repeat(200)}…"`],
  ])('is quoted and not endless', (path, quoted) => {
    expect(quotePath(path)).toBe(quoted)
  })

  it('is said as it was written, with all else that the error says', () => {
    const root = temporaryFolder('as-written')
    const roots = openRoots([{ path: root, mode: 'read' }])
    const more = { fix: { key: 'k', hint: 'h' }, details: { size: 1 }, retryable: true, cause: 'c' }
    const error = new ToolError('CONFLICT', `"${root}/a" met "${root}/a".`, more)
    expect(asWritten(error, './a', roots)).toMatchObject({ code: 'CONFLICT', message: '"./a" met "./a".', ...more })
    const same = [
      new Error(`"${root}/a"`),
      new ToolError('CONFLICT', 'no path'),
      new ToolError('CONFLICT', `"${root}"`),
    ]
    for (const other of same) expect(asWritten(other, 'a', roots)).toBe(other)
    expect(asWritten(error, '../a', roots)).toBe(error)
    roots.close()
    expect(asWritten(error, 'a', roots)).toBe(error)
  })
})

// `package.json`, `src` and `test` are in the current folder of the tests, and not in this root.
const root = temporaryFolder()
const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1_000 })
afterAll(() => guard.close())

function readerOf(call: Partial<FilesCall>) {
  const notices: string[] = []
  const signal = () => new AbortController().signal
  const asked = { signal, canRead: true, canWrite: false, canOverwrite: false, ...call }
  const files = guard.handle({ ...asked, notice: (text) => notices.push(text) }) as ReadFiles
  return { files, notices }
}

const hintOf = (reading: Promise<unknown>) => reading.then(String, ({ message, fix }) => [message, fix.hint])

describe('what is not found', () => {
  it('is reported with the root that was searched, and that the current folder has it', async () => {
    const { files, notices } = readerOf({ isOwner: true })
    const [message, hint] = await hintOf(files.readText('package.json'))
    expect(message).toBe(`"package.json" does not exist in ${root}.`)
    expect(hint).toContain(`${join(process.cwd(), 'package.json')} exists, but tools do not see it. `)
    expect(await hintOf(files.stat('no-such-file'))).toEqual([
      `"no-such-file" does not exist in ${root}.`,
      'Check the name.',
    ])
    await files.list('.')
    await files.find('.', { pattern: '*.ts' })
    await files.search('.', { pattern: 'import' })
    expect(notices).toEqual(Array(3).fill(expect.stringContaining(`Tools see only ${root}, not ${process.cwd()}.`)))
  })

  it('tells nothing of the current folder to a principal, and to nobody what is a secret or above', async () => {
    const { files, notices } = readerOf({})
    expect((await hintOf(files.readText('package.json')))[1]).toBe('Check the name.')
    await files.list('.')
    expect(notices).toEqual([])
    const owner = readerOf({ isOwner: true }).files
    expect((await hintOf(owner.readText('test/.env')))[1]).not.toContain('exists')
  })

  it('says to a principal that the empty folder is private, and who can give another one', async () => {
    const path = temporaryFolder()
    const alone = createFilesGuard({ roots: [{ path, mode: 'write', isPrivate: true }], maxReadBytes: 1_000 })
    const notices: string[] = []
    const signal = () => new AbortController().signal
    const call = { signal, canRead: true, canWrite: false, canOverwrite: false }
    const files = alone.handle({ ...call, notice: (text) => notices.push(text) }) as ReadFiles
    const help = expect.stringContaining('The owner of the hub can give tools another folder')
    expect(await hintOf(files.readText('package.json'))).toEqual([`"package.json" does not exist in ${path}.`, help])
    await files.list('.')
    expect(notices).toEqual([help])
    writeFileSync(join(path, 'a.txt'), '')
    expect((await hintOf(files.readText('package.json')))[1]).toBe('Check the name.')
    alone.close()
  })

  it('is not told of the current folder where a root holds it', async () => {
    const both = createFilesGuard({
      roots: [
        { path: root, mode: 'read' },
        { path: process.cwd(), mode: 'read' },
      ],
      maxReadBytes: 1_000,
    })
    const signal = () => new AbortController().signal
    const call = { signal, canRead: true, canWrite: false, canOverwrite: false, isOwner: true }
    const files = both.handle(call) as ReadFiles
    expect((await hintOf(files.readText('package.json')))[1]).toBe('Check the name.')
    both.close()
  })

  it('is a part of a path that is a file, which says so itself', async () => {
    writeFileSync(join(root, 'package.json'), '')
    const { files } = readerOf({ isOwner: true })
    expect((await hintOf(files.readText('package.json/x')))[0]).toContain('a part of it is a file')
    rmSync(join(root, 'package.json'))
  })

  it('says nothing of the current folder after a search in a root that has files', async () => {
    mkdirSync(join(root, 'src'))
    writeFileSync(join(root, 'a.txt'), 'x')
    const { files, notices } = readerOf({ isOwner: true })
    await files.list('src')
    expect(notices).toEqual([])
    expect(await files.readText('a.txt')).toBe('x')
  })
})
