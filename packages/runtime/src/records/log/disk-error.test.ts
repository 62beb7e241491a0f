import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { diskError } from './disk-error.ts'

const refused = (code: string) => Object.assign(new Error('refused'), { code })
const SPACE = 'Free space on the disk of the run records, or point runs to another one.'
const PLACE = 'Point runs to a folder that this user can create and write.'
const CHECK = 'Check the disk of the run records, or point runs to another one.'

describe('what a disk refuses', () => {
  it.each([
    ...['ENOSPC', 'EDQUOT', 'EFBIG'].map((code) => [code, 'RECORDS_UNAVAILABLE', 'the disk is full', SPACE]),
    ...['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'ENOENT'].map((code) => [
      code,
      'CONFIG_INVALID',
      'the folder cannot be used',
      PLACE,
    ]),
    ...['EIO', 'EREMOTEIO'].map((code) => [code, 'RECORDS_UNAVAILABLE', 'the disk failed', CHECK]),
  ] as const)('is named with what the owner can do: %s', (errno, code, what, hint) => {
    const cause = refused(errno!)
    const error = diskError('The record cannot be written', '/runs/r', cause)
    expect(error).toMatchObject({
      code,
      message: `The record cannot be written: ${what} (${errno}).`,
      fix: { key: 'runs', hint },
      details: { path: '/runs/r', errno },
      cause,
    })
    expect(error.message).not.toContain('/runs/r')
  })

  it.each(['EMFILE', 'ENFILE'])('is not the disk if no descriptors are left: %s', (errno) => {
    const error = diskError('The record cannot be written', '/runs/r', refused(errno))
    expect(error).toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: `The record cannot be written: no file descriptors are left (${errno}).`,
      fix: { hint: expect.stringContaining('ulimit -n') },
    })
    expect(error.message).not.toContain('disk')
  })

  it('stays as it is when it was named before', () => {
    const named = new ToolError('NOT_FOUND', 'Run not found.')
    expect(diskError('The record cannot be read', '/runs/r', named)).toBe(named)
  })
})
