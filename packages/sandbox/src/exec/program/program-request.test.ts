import { chmod, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../../test/support/sandbox-spec.ts'
import type { ProgramRequest } from '../../../../core/src/commands.ts'
import { checkProgram, findExecutable } from './program-request.ts'

const check = (request: object) => checkProgram(request as ProgramRequest)

describe('a program to start', () => {
  it('is copied as it was asked for, with what nobody said left out', () => {
    const argv = ['node', '', 'x y']
    const checked = check({ argv })
    expect(checked).toEqual({ argv: ['node', '', 'x y'], env: {} })
    expect(checked.argv).not.toBe(argv)
    const all = { argv: ['node'], cwd: '/w', env: { A_1: '', _b: 'x' }, access: { hosts: ['a.example'] } }
    expect(check(all)).toEqual({ ...all, access: { readable: [], writable: [], hosts: ['a.example'] } })
    expect(check({ argv: ['x'], access: { readable: ['/r'], writable: ['/w'] } }).access).toEqual({
      ...{ readable: ['/r'], writable: ['/w'], hosts: [] },
    })
  })

  it.each([
    [{ argv: [] }, 'A program to start has no name.'],
    [{ argv: ['', 'x'] }, 'A program to start has no name.'],
    [{ argv: 'node' }, 'A program to start has no name.'],
    [{ argv: ['node', 7] }, 'A word of "node" is not text without NUL.'],
    [{ argv: ['node', 'a\0'] }, 'A word of "node" is not text without NUL.'],
    [{ argv: ['node'], env: { '1A': 'x' } }, 'Invalid name of a variable: "1A".'],
    [{ argv: ['node'], env: { 'A=B': 'x' } }, 'Invalid name of a variable: "A=B".'],
    [{ argv: ['node'], env: { '=A': 'x' } }, 'Invalid name of a variable: "=A".'],
    [{ argv: ['node'], env: { '': 'x' } }, 'Invalid name of a variable: "".'],
    [{ argv: ['node'], env: { A: 'hunter2\0' } }, 'The value of A is not text without NUL.'],
    [{ argv: ['node'], env: { A: 1 } }, 'The value of A is not text without NUL.'],
    [{ argv: ['node'], cwd: 'a\0' }, 'The folder to run in is not text without NUL.'],
    [{ argv: ['node'], cwd: 7 }, 'The folder to run in is not text without NUL.'],
  ])('is refused: %j', (request, message) => {
    expect(() => check(request)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message,
        fix: expect.objectContaining({
          hint: 'Correct the command, args, cwd or env of the program in tool-hub.yaml.',
        }),
      }),
    )
  })
})

/** Two folders, of which the second has what the first lacks. */
async function folders() {
  const folder = await folderWith({ 'a/text': '', 'a/sub': null, 'b/tool': '', 'b/text': '', 'b/sub': '', 'w/own': '' })
  for (const name of ['b/tool', 'b/text', 'b/sub', 'w/own']) await chmod(join(folder, name), 0o755)
  await symlink('../b', join(folder, 'a/link'))
  await symlink('../b/tool', join(folder, 'a/other'))
  return { folder, at: { path: `${folder}/a:b:${folder}/b`, cwd: join(folder, 'w') } }
}

describe('a program', () => {
  it('is found in the folders of PATH, the first that has one to run', async () => {
    const { folder, at } = await folders()
    const found = async (name: string) => findExecutable(name, at)
    const b = (name: string) => ({ path: join(folder, 'b', name), real: join(folder, 'b', name) })
    expect([await found('tool'), await found('text'), await found('sub')]).toEqual([b('tool'), b('text'), b('sub')])
    expect(await found('other')).toEqual({ path: join(folder, 'a/other'), real: join(folder, 'b/tool') })
  })

  it('is found from the folder to run in where its name has a slash', async () => {
    const { folder, at } = await folders()
    const own = { path: join(folder, 'w/own'), real: join(folder, 'w/own') }
    expect(await findExecutable('./own', at)).toEqual(own)
    const linked = await findExecutable(join(folder, 'a/link/tool'), at)
    expect(linked).toEqual({ path: join(folder, 'b/tool'), real: join(folder, 'b/tool') })
  })

  it('is not found in a folder of PATH that depends on where the hub is', async () => {
    const { folder } = await folders()
    await expect(findExecutable('own', { path: 'w:.:', cwd: join(folder, 'w') })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'program not found: "own"',
      fix: { hint: 'Install it, or name its full path. It was searched in the folders of PATH.' },
    })
  })

  it('is named with the first reason why it cannot be run', async () => {
    const { folder, at } = await folders()
    const only = { ...at, path: join(folder, 'a') }
    await expect(findExecutable('text', only)).rejects.toMatchObject({
      code: 'EXEC_FAILED',
      message: '"text" cannot be run: it is not executable.',
    })
    await expect(findExecutable('sub', only)).rejects.toThrow('"sub" cannot be run: it is not a file.')
    await expect(findExecutable('./none', at)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'Install it, or name its full path.' },
    })
  })
})
