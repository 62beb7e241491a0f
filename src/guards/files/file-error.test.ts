import { openSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { ToolError } from '../../errors.ts'
import { asWritten } from './as-written.ts'
import { toFileError } from './file-error.ts'
import { openRoots } from './open-roots.ts'
import { quotePath } from './quote-path.ts'

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
