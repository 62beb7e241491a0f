import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveWorkingFolder, type WorkingFolders } from './command-request.ts'

let base: string
let places: WorkingFolders
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'find-place-')))
  for (const folder of ['root/a', 'root/records', 'other', 'outside'])
    await mkdir(join(base, folder), { recursive: true })
  await writeFile(join(base, 'root/file'), '')
  await symlink(join(base, 'outside'), join(base, 'root/out'))
  await symlink(join(base, 'other'), join(base, 'root/in'))
  await symlink(join(base, 'root'), join(base, 'said'))
  places = { roots: [join(base, 'said'), join(base, 'other')], hidden: [join(base, 'root/records')] }
})
afterAll(() => rm(base, { recursive: true, force: true }))

describe('the folder a command works in', () => {
  it('is real and below a root', () => {
    expect(resolveWorkingFolder(undefined, places)).toBe(join(base, 'root'))
    expect(resolveWorkingFolder('a/../a/', places)).toBe(join(base, 'root/a'))
    expect(resolveWorkingFolder(join(base, 'said/a'), places)).toBe(join(base, 'root/a'))
    expect(resolveWorkingFolder(join(base, 'root/a'), places)).toBe(join(base, 'root/a'))
    expect(resolveWorkingFolder(join(base, 'other'), places)).toBe(join(base, 'other'))
    expect(resolveWorkingFolder('in', places)).toBe(join(base, 'other'))
  })

  it.each([
    ['a path above', '..', 'PATH_OUTSIDE_SANDBOX'],
    ['one whose name begins like a root', '../rooted', 'PATH_OUTSIDE_SANDBOX'],
    ['an absolute path elsewhere', '/', 'PATH_OUTSIDE_SANDBOX'],
    ['one elsewhere that does not exist', '/no/such/folder', 'PATH_OUTSIDE_SANDBOX'],
    ['a link that leads out', 'out', 'PATH_OUTSIDE_SANDBOX'],
    ['what is hidden', 'records', 'PATH_DENIED'],
    ['what is not there', 'missing', 'NOT_FOUND'],
    ['a file', 'file', 'NOT_FOUND'],
    ['what is below a file', 'file/a', 'NOT_FOUND'],
    ['no text', '', 'INPUT_SCHEMA_INVALID'],
    ['NUL', 'a\0', 'INPUT_SCHEMA_INVALID'],
    ['a tilde, which stays a tilde', '~', 'NOT_FOUND'],
  ])('is not %s', (_, cwd, code) => {
    expect(() => resolveWorkingFolder(cwd, places)).toThrow(expect.objectContaining({ code }))
  })
})

it('says what is wrong with a folder, and what to use', () => {
  const failure = (cwd: string) => {
    try {
      return resolveWorkingFolder(cwd, places)
    } catch (error) {
      const { message, fix } = error as Error & { fix: { hint: string } }
      return [message, fix.hint]
    }
  }
  expect(failure('..')).toEqual([
    'The working folder ".." is outside the sandbox roots.',
    `Use a folder relative to ${join(base, 'said')}, or leave cwd out.`,
  ])
  expect(failure('records')).toEqual(['The working folder "records" is protected.', 'Use another folder below a root.'])
  expect(failure('missing')).toEqual([
    'The working folder "missing" is not an existing folder.',
    'Use a folder below a root, or leave cwd out.',
  ])
  expect(failure('file')).toEqual([
    'The working folder "file" is not an existing folder.',
    'Use a folder below a root, or leave cwd out.',
  ])
})
