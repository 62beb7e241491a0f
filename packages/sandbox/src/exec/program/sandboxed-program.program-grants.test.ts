import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../../test/support/sandbox-spec.ts'
import { isWithin } from '../../../../core/src/lib/text.ts'
import { realFolder } from './program-request.ts'
import { chooseFolder, isVisibleInSandbox, packageFolder } from './sandboxed-program.ts'

describe('whether a path is in a folder', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/ab', false],
    ['/a', '/', false],
    ['/a/b', '/a', false],
    ['/a', '/a/..b', true],
    ['/a', '/b/a', false],
    ['/', '/a', true],
  ])('%s has %s: %s', (folder, path, expected) => {
    expect(isWithin(folder, path)).toBe(expected)
  })

  it('is seen in a sandbox below the system and what was granted', () => {
    for (const path of ['/usr', '/usr/x', '/bin/x', '/sbin/x', '/lib/x', '/lib32/x', '/lib64/x', '/libx32/x', '/g/x']) {
      expect(isVisibleInSandbox(path, ['/g']), path).toBe(true)
    }
    for (const path of ['/', '/etc', '/usrx', '/home', '/h']) expect(isVisibleInSandbox(path, ['/g']), path).toBe(false)
  })
})

describe('the folder of a sandboxed program', () => {
  it('is the one asked for, where it is seen', async () => {
    for (const folder of ['/', '/tmp', '/run/home', '/usr/share', '/g/x']) {
      expect(await chooseFolder(folder, ['/g'])).toBe(folder)
    }
    await expect(chooseFolder('/tmp/x', ['/g'])).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_SANDBOX',
      message: 'A sandboxed program does not see its folder "/tmp/x".',
      fix: { hint: 'Add it to the readable or writable folders of the program, or leave cwd out.' },
    })
  })

  it('is else the first granted folder, or an empty home', async () => {
    const folder = await folderWith({ file: '', sub: null })
    const granted = [join(folder, 'file'), join(folder, 'sub'), folder]
    expect(await chooseFolder(undefined, granted)).toBe(join(folder, 'sub'))
    expect(await chooseFolder(undefined, granted.slice(0, 1))).toBe('/run/home')
    expect(await chooseFolder(undefined, [])).toBe('/run/home')
    expect(await chooseFolder(undefined, [join(folder, 'sub'), process.cwd()])).toBe(process.cwd())
  })
})

describe('the folder that a program was installed in', () => {
  it('is the outermost node_modules, else the nearest marked folder outside of the home', async () => {
    const top = await folderWith({
      ...{ 'home/package.json': '', 'home/app/package.json': '', 'home/app/bin/x': '' },
      ...{ 'env/pyvenv.cfg': '', 'env/bin/x': '', 'bare/bin/x': '' },
    })
    const found = (path: string) => packageFolder(join(top, path), join(top, 'home/me'))
    expect(await found('node_modules/a/node_modules/b/x')).toBe(join(top, 'node_modules'))
    expect(await found('home/app/bin/x')).toBe(join(top, 'home/app'))
    expect(await found('home/x')).toBeUndefined()
    expect(await found('env/bin/x')).toBe(join(top, 'env'))
    expect(await found('bare/bin/x')).toBeUndefined()
  })
})

describe('the real path of a folder', () => {
  it('is given, or why there is none', async () => {
    const folder = await folderWith({ file: '' })
    expect(await realFolder(`${folder}/../${folder.split('/').at(-1)}`)).toBe(folder)
    const hint = 'Create it, or correct cwd.'
    await expect(realFolder(join(folder, 'none'))).rejects.toMatchObject({
      ...{ code: 'NOT_FOUND', message: `The folder to run in does not exist: "${folder}/none"`, fix: { hint } },
    })
    await expect(realFolder(join(folder, 'file'))).rejects.toMatchObject({
      ...{ code: 'NOT_FOUND', message: `The folder to run in is not a folder: "${folder}/file"`, fix: { hint } },
    })
  })
})
