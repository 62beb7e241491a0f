import { linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { refuseProtected, unnameableIn } from '../survey/unnameable.ts'

let root: string

beforeEach(() => {
  root = temporaryFolder('unnameable')
})

/** A path below `caf` and a byte that is not UTF-8. */
const odd = (path = '') => Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from(path)])
const found = () => unnameableIn(root, readdirSync(root))
const HINT = 'Rename the file or the folder, or move it out of the sandbox roots.'

describe('a name that is not UTF-8', () => {
  it('is found by its bytes, and a text that only looks like it is not', () => {
    mkdirSync(odd())
    writeFileSync(odd('.txt'), '')
    writeFileSync(`${root}/\uFFFD`, '')
    writeFileSync(`${root}/plain`, '')
    const all = found().sort((a, b) => a.path.compare(b.path))
    expect(all).toEqual([
      { path: odd(), isFolder: true, isLink: false },
      { path: odd('.txt'), isFolder: false, isLink: false },
    ])
  })

  it('is not looked for where every name is plain, or where the folder is gone', () => {
    mkdirSync(odd())
    expect(unnameableIn(root, ['a', 'b'])).toEqual([])
    expect(unnameableIn(`${root}/gone`, ['\uFFFD'])).toEqual([])
    writeFileSync(`${root}/file`, '')
    expect(unnameableIn(`${root}/file`, ['\uFFFD'])).toEqual([])
  })
})

describe('what is below such a name', () => {
  const refuse = () => {
    for (const each of found()) refuseProtected(each)
  }

  it.each([
    ['.env', '.env'],
    ['a/b/server.key', 'a/b/server.key'],
    ['.vscode/tasks.json', '.vscode'],
    ['a/.ssh/id', 'a/.ssh'],
    ['.git/HEAD', '.git'],
    ['.config/fish/config.fish', '.config/fish'],
  ])('must be closed, and cannot be: %s', (path, named) => {
    mkdirSync(odd(`/${path.split('/').slice(0, -1).join('/')}`), { recursive: true })
    writeFileSync(odd(`/${path}`), '')
    const message = `${odd(`/${named}`)} must be closed to commands and cannot be, because its path is not valid UTF-8.`
    expect(refuse).toThrow(expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE', message, fix: { hint: HINT } }))
  })

  it('must be closed where it is a repository without the name', () => {
    for (const name of ['objects', 'refs']) mkdirSync(odd(`/bare/${name}`), { recursive: true })
    expect(refuse).not.toThrow()
    writeFileSync(odd('/bare/HEAD'), '')
    expect(refuse).toThrow(`${odd('/bare')} must be closed`)
  })

  it('is left alone where it is plain, or of packages', () => {
    mkdirSync(odd('/src/node_modules/x'), { recursive: true })
    writeFileSync(odd('/src/main.ts'), '')
    writeFileSync(odd('/src/node_modules/x/.env'), '')
    expect(refuse).not.toThrow()
    expect(() => refuseProtected({ path: odd('/gone'), isFolder: true })).not.toThrow()
  })

  it('may be 20,000 files, in all of its folders', () => {
    for (const name of ['/a', '/b']) mkdirSync(odd(name), { recursive: true })
    writeFileSync(odd('/a/0'), '')
    // With the two folders and the first file.
    for (let number = 0; number < 19_997; number += 1)
      linkSync(odd('/a/0'), odd(`/${number % 2 ? 'a' : 'b'}/x${number}`))
    expect(refuse).not.toThrow()
    writeFileSync(odd('/b/last'), '')
    expect(refuse).toThrow(
      expect.objectContaining({
        code: 'SANDBOX_UNAVAILABLE',
        message: `The name of ${odd()} is not valid UTF-8, and it holds more than 20000 files: they are not looked through for secrets.`,
        fix: { hint: 'Rename the folder, or move it out of the sandbox roots.' },
      }),
    )
  })
})
