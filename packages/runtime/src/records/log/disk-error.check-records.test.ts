import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { checkRecords } from './disk-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-check-records-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('makes the folder, and leaves nothing in it', async () => {
  await checkRecords(join(folder, 'new', 'runs'))
  expect(readdirSync(join(folder, 'new', 'runs'))).toEqual([])
  expect(statSync(join(folder, 'new', 'runs')).mode & 0o777).toBe(0o700)
})

it('says what is wrong with a folder that is none', async () => {
  writeFileSync(join(folder, 'file'), '')
  await expect(checkRecords(join(folder, 'file'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'Nothing can be recorded: the folder cannot be used (EEXIST).',
    fix: { key: 'runs' },
    details: { path: join(folder, 'file') },
  })
})

it.skipIf(process.getuid?.() !== 0)('says that the disk is full', async () => {
  const disk = mkdtempSync(join(folder, 'disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', disk])
  try {
    await expect(checkRecords(disk)).rejects.toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: expect.stringContaining('the disk is full'),
    })
    expect(readdirSync(disk)).toEqual([])
  } finally {
    execFileSync('umount', [disk])
  }
})

it('says that the disk refuses to sync, and leaves nothing in the folder', async () => {
  const syncFile = async () => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }
  await expect(checkRecords(folder, { syncFile })).rejects.toMatchObject({
    code: 'RECORDS_UNAVAILABLE',
    message: 'Nothing can be recorded: the disk failed (EIO).',
  })
  expect(readdirSync(folder).filter((name) => name.startsWith('.check'))).toEqual([])
  await checkRecords(folder)
})
