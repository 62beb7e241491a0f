import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { GitAround } from './git-settings.ts'

let root: string
let around: GitAround

beforeEach(() => {
  root = temporaryFolder('git-around')
  around = new GitAround()
})

function write(path: string, content = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

const names = (path: string) => around.names(join(root, path))
const hooksIn = (path: string) => `[core]\n\thooksPath = ${path}\n`

describe('a repository around a path', () => {
  it('names what its config runs or reads, with all that is in it, whether it is there or not', () => {
    write('.git/config', `${hooksIn('h')}[include]\n\tpath = more\n`)
    expect(['h', 'h/pre-commit', 'h/a/b', '.git/more'].map(names)).toEqual([true, true, true, true])
    expect(['hh', 'g/h', 'more', 'a'].map(names)).toEqual([false, false, false, false])
  })

  it('may be any of those around it', () => {
    write('.git/config', hooksIn('sub/h'))
    write('sub/.git/config', hooksIn('g'))
    expect(['sub/h/x', 'sub/g/x', 'g/x', 'sub/sub/h'].map(names)).toEqual([true, true, false, false])
  })

  it('is read again when its config has changed, comes or goes', () => {
    expect(names('h/x')).toBe(false)
    write('.git/config', hooksIn('h'))
    expect([names('h/x'), names('h/x')]).toEqual([true, true])
    write('.git/config', hooksIn('other'))
    expect([names('h/x'), names('other/x')]).toEqual([false, true])
    rmSync(join(root, '.git/config'))
    expect(names('other/x')).toBe(false)
  })

  it('names a place behind a link by its real path, too', () => {
    mkdirSync(join(root, 'real/deep'), { recursive: true })
    symlinkSync('real', join(root, 'link'))
    write('.git/config', hooksIn('link/deep/new'))
    expect(['link/deep/new/x', 'real/deep/new/x', 'real/deep/x'].map(names)).toEqual([true, true, false])
  })

  it('has the config of a worktree or a submodule where its `.git` file leads', () => {
    write('repo/config', hooksIn('h'))
    write('tree/.git', 'gitdir: ../repo\n')
    expect(names('tree/h/x')).toBe(true)
    write('repo/worktrees/w/commondir', '../..\n')
    write('more/.git', 'gitdir: ../repo/worktrees/w\n')
    expect(names('more/h/x')).toBe(true)
    write('none/.git', 'gitdir: ../nowhere\n')
    expect(names('none/h/x')).toBe(false)
  })

  it('has a folder whose name is taken as it is', () => {
    write('tree/a/gitdir: b/config', hooksIn('h'))
    write('tree/.git', 'a/gitdir: b')
    expect(names('tree/h/x')).toBe(true)
  })

  it('has a `.git` file of at most 4,096 bytes', () => {
    write('repo/config', hooksIn('h'))
    write('tree/.git', 'gitdir: ../repo'.padEnd(4096, '\n'))
    expect(names('tree/h/x')).toBe(true)
    write('tree/.git', 'gitdir: ../repo'.padEnd(4097, '\n'))
    expect(names('tree/h/x')).toBe(false)
  })
})
