import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Survey } from './survey.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'survey-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
})

function write(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), 'x')
  }
}

const at = (paths: readonly string[]) => paths.map((path) => join(root, path))
const survey = (options: { exact?: readonly string[]; hidden?: readonly string[]; roots?: readonly string[] } = {}) =>
  new Survey({ roots: options.roots ?? [root], exact: at(options.exact ?? []), hidden: at(options.hidden ?? []) })

async function look(of = survey()) {
  const { places, secrets, gitFolders } = await of.look()
  const short = (path: string) => path.slice(root.length + 1)
  return {
    places: [...places.keys()].map(short).sort(),
    secrets: secrets.map(short),
    gitFolders: gitFolders.map(short),
  }
}

describe('a survey', () => {
  it('finds places, secrets and folders of git at any depth, in the order of their paths', async () => {
    write('z/.env', 'a/b/.env', 'a/.ssh/id', '.vscode/x.json', 'a/b/.mcp.json', 'src/main.ts')
    write('b/.git/config', 'a/.git/hooks/x', 'a/.git/objects/.env', 'a/.git/description')
    expect(await look()).toEqual({
      places: ['.vscode', 'a/.git/hooks', 'a/.ssh', 'a/b/.mcp.json', 'b/.git/config'],
      secrets: ['a/.ssh', 'a/b/.env', 'z/.env'],
      gitFolders: ['a/.git', 'b/.git'],
    })
  })

  it('looks into submodules and worktrees, and into repositories in other folders of git', async () => {
    write('.git/lfs/x/config')
    for (const folder of ['modules/lib', 'objects/x', 'worktrees/tree'])
      write(`.git/${folder}/HEAD`, `.git/${folder}/commondir`, `.git/${folder}/config`)
    const inner = ['modules/lib', 'objects/x', 'worktrees/tree'].map((folder) => `.git/${folder}`)
    expect(await look()).toEqual({
      places: inner.flatMap((folder) => [`${folder}/commondir`, `${folder}/config`]),
      secrets: [],
      gitFolders: ['.git', ...inner],
    })
  })

  it.each(['.env', 'a/.vscode/tasks.json', '.git/config', 'bare/HEAD', 'a/.mcp.json'])(
    'cannot close %s below a name that is not UTF-8, and says so',
    async (place) => {
      const bytes = (path: string) =>
        Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from(path)])
      mkdirSync(bytes('/src'), { recursive: true })
      writeFileSync(bytes('/src/main.ts'), 'x')
      write('\uFFFD/.mcp.json')
      const of = survey()
      expect((await of.look()).problem).toBeUndefined()
      expect((await look(of)).places).toEqual(['\uFFFD/.mcp.json'])
      mkdirSync(bytes(`/src/${dirname(place)}`), { recursive: true })
      for (const folder of ['objects', 'refs']) mkdirSync(bytes(`/src/bare/${folder}`), { recursive: true })
      writeFileSync(bytes(`/src/${place}`), 'x')
      expect((await of.look()).problem).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
      rmSync(bytes(''), { recursive: true })
      expect((await of.look()).problem).toBeUndefined()
    },
  )

  it('cannot hide a secret whose own name is not UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/.env.`), Buffer.from([0xff])]), 'x')
    expect((await survey().look()).problem).toMatchObject({ message: expect.stringContaining('not valid UTF-8') })
  })

  it('looks into node_modules for folders of git only, not into hidden folders, nor through links', async () => {
    write(
      'node_modules/x/.env',
      'node_modules/x/.vscode/a',
      'node_modules/x/lib/.git/config',
      'node_modules/bare/HEAD',
      'node_modules/bare/objects/x',
      'node_modules/bare/refs/x',
      'node_modules/bare/config',
      'away/.env',
      'away/.vscode/a',
      'kept/.mcp.json',
      'gone.pem',
    )
    symlinkSync('kept', join(root, 'link'))
    symlinkSync('kept/.mcp.json', join(root, 'x.pem'))
    const found = await look(survey({ hidden: ['away', 'gone.pem'] }))
    expect(found).toEqual({
      places: ['kept/.mcp.json', 'node_modules/bare/config', 'node_modules/x/lib/.git/config'],
      secrets: [],
      gitFolders: ['node_modules/bare', 'node_modules/x/lib/.git'],
    })
  })

  it('says what is a link, what git reads, and finds exact paths only where something is', async () => {
    write('tree/.git', 'shared/x', 'exact/x')
    symlinkSync('shared', join(root, '.claude'))
    const { places } = await survey({ exact: ['exact', 'missing', 'exact/x/y'] }).look()
    expect([...places.values()].sort((a, b) => a.path.localeCompare(b.path))).toEqual([
      { path: join(root, '.claude'), isGit: false, link: 'shared' },
      { path: join(root, 'exact'), isGit: false },
      { path: join(root, 'tree/.git'), isGit: true },
    ])
  })

  it('finds what the config of a repository names in the roots, and nothing outside of them', async () => {
    write('.git/HEAD', 'hooks/x')
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'survey-outside-')))
    onTestFinished(() => rmSync(outside, { recursive: true }))
    const config = (path: string) => writeFileSync(join(root, '.git/config'), `[core]\n\thooksPath = ${path}\n`)
    config('hooks')
    expect((await look()).places).toEqual(['.git/config', 'hooks'])
    config(outside)
    expect((await look()).places).toEqual(['.git/config'])
  })

  it('covers all roots, also one that has gone', async () => {
    write('a/.env', 'b/.env')
    const of = survey({ roots: at(['a', 'missing', 'b', 'a/.env']) })
    expect((await look(of)).secrets).toEqual(['a/.env', 'b/.env'])
  })
})

describe('a survey that looks again', () => {
  it('sees a folder that took the place of another with the same change time', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => `${index}`)
    for (const number of numbers) write(`${number}/old/x`, `${number}/new/x`)
    for (const number of numbers) {
      mkdirSync(join(root, number, 'new/lib/repository'), { recursive: true })
      mkdirSync(join(root, number, 'old/lib'))
    }
    for (const number of numbers)
      write(...['config', 'objects/x', 'refs/x'].map((name) => `${number}/new/lib/repository/${name}`))
    const of = survey()
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + 60_000)
    onTestFinished(() => clock.mockRestore())
    expect((await look(of)).places).toEqual([])
    for (const number of numbers) {
      renameSync(join(root, number, 'old'), join(root, number, 'gone'))
      renameSync(join(root, number, 'new'), join(root, number, 'old'))
      write(`${number}/old/lib/repository/HEAD`)
    }
    expect((await look(of)).places).toEqual(numbers.map((number) => `${number}/old/lib/repository/config`).sort())
  })

  it('sees what came, went and moved since', async () => {
    write('a/.env', 'b/c/.mcp.json', 'd/.env')
    const of = survey()
    expect((await look(of)).secrets).toEqual(['a/.env', 'd/.env'])
    rmSync(join(root, 'a/.env'))
    renameSync(join(root, 'b'), join(root, 'e'))
    rmSync(join(root, 'd'), { recursive: true })
    write('d', 'e/c/.env')
    expect(await look(of)).toEqual({ places: ['e/c/.mcp.json'], secrets: ['e/c/.env'], gitFolders: [] })
    expect(await look(of)).toEqual({ places: ['e/c/.mcp.json'], secrets: ['e/c/.env'], gitFolders: [] })
  })

  it('sees what came while it was looking, in one look for all who ask meanwhile', async () => {
    const of = survey()
    const first = of.look()
    write('.env')
    const [second, third] = [of.look(), of.look()]
    expect(second).toBe(third)
    await first
    expect((await second).secrets).toEqual(at(['.env']))
    write('a/.env')
    expect((await look(of)).secrets).toEqual(['.env', 'a/.env'])
  })
})

it('finds what is there next to a folder with 140,000 entries', { timeout: 300_000 }, async () => {
  write('vendor/lib/.git/config', 'secrets/0.pem')
  mkdirSync(join(root, 'many'))
  for (let index = 0; index < 140_000; index++) symlinkSync('/nowhere', join(root, 'many', `${index}`))
  const { reports, gitFolders, problem } = await survey().look()
  expect([reports.length, gitFolders, problem]).toEqual([140_000, at(['vendor/lib/.git']), undefined])
})
