import { chmod, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../test/support/jail-spec.ts'
import { findExecutable } from './find-executable.ts'

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
      fix: { hint: 'Install it, or give its whole path. It was looked for in the folders of PATH.' },
    })
  })

  it('is named with the first reason why it cannot be run', async () => {
    const { folder, at } = await folders()
    const only = { ...at, path: join(folder, 'a') }
    await expect(findExecutable('text', only)).rejects.toMatchObject({
      code: 'EXEC_FAILED',
      message: '"text" cannot be run: it is not executable.',
    })
    await expect(findExecutable('sub', only)).rejects.toThrow('"sub" cannot be run: it is a folder or no file.')
    await expect(findExecutable('./none', at)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'Install it, or give its whole path.' },
    })
  })
})
