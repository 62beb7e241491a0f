import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { codeFiles, nodeModulesOf, selfReference } from './code-files.ts'

let base: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'code-files-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
})

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), content)
  }
}

/** What is found below the base folder, in the order of the alphabet. */
function found(file: string): string[] {
  return codeFiles(join(base, file))
    .filter((path) => path.startsWith(`${base}/`))
    .map((path) => path.slice(base.length + 1))
    .sort()
}

const PACKAGE = JSON.stringify({ name: 'x' })

describe('a pipe that a command put in the place of a file', () => {
  it('is not waited for', () => {
    write({ 'main.mjs': "import 'x'; import './code.mjs'", 'node_modules/x/index.js': '' })
    for (const path of ['package.json', 'node_modules/x/package.json', 'code.mjs'])
      execFileSync('mkfifo', [join(base, path)])
    expect(found('main.mjs')).toEqual(expect.arrayContaining(['main.mjs', 'node_modules/x']))
    expect(selfReference(join(base, 'main.mjs'))).toBeUndefined()
  })
})

describe('files that code names by a path', () => {
  it.each([
    ['a default import', "import x from './x.mjs'"],
    ['an import for its effect', 'import "./x.mjs"'],
    ['named imports over several lines', "import {\n  a,\n  b,\n} from './x.mjs'"],
    ['an export from', "export * from './x.mjs'"],
    ['a call of import', "await import('./x.mjs')"],
    ['a call of import with a comment', "await import( /* lazy */ './x.mjs')"],
    ['a call of import with backquotes', 'await import(`./x.mjs`)'],
    ['a call of require', "require('./x.mjs')"],
    ['an address beside the module', "new Worker(new URL('./x.mjs', import.meta.url))"],
    ['a folder above', "import '../app/x.mjs'"],
  ])('are found behind %s', (_, text) => {
    write({ 'app/main.mjs': text, 'app/x.mjs': '' })
    expect(found('app/main.mjs')).toEqual(['app/main.mjs', 'app/x.mjs'])
  })

  it('are found behind an absolute path', () => {
    write({ 'main.mjs': `import '${join(base, 'x.mjs')}'`, 'x.mjs': '' })
    expect(found('main.mjs')).toEqual(['main.mjs', 'x.mjs'])
  })

  it('are followed from file to file, around circles, and whatever the language of JavaScript', () => {
    const endings = ['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx']
    const chain = endings.map((ending, index) => {
      const next = endings[index + 1]
      return [`m.${ending}`, next ? `import './m.${next}'` : "import './m.js'"] as const
    })
    write(Object.fromEntries(chain))
    expect(found('m.js')).toEqual(endings.map((ending) => `m.${ending}`).sort())
  })

  it.each(['.js', '.mjs', '.cjs', '.ts', '.mts', '.json', '.node', '/index.js', '/index.mjs', '/index.ts'])(
    'are found without their ending %s',
    (ending) => {
      write({ 'main.cjs': "require('./x')", [`x${ending}`]: '' })
      expect(found('main.cjs')).toEqual(['main.cjs', `x${ending}`])
    },
  )

  it('are found behind links, and what these import is looked for where they lead', () => {
    write({ 'lib/main.mjs': "import './part.mjs'", 'lib/part.mjs': "import './more'", 'lib/src/more.mjs': '' })
    mkdirSync(join(base, 'bin'))
    symlinkSync('../lib/main.mjs', join(base, 'bin/start.mjs'))
    symlinkSync('src/more.mjs', join(base, 'lib/more.mjs'))
    expect(found('bin/start.mjs')).toEqual([
      'bin/start.mjs',
      ...['lib/main.mjs', 'lib/more.mjs', 'lib/part.mjs', 'lib/src/more.mjs'],
    ])
  })

  it('are named also where nothing is yet, and not read when they are no code', () => {
    write({ 'main.mjs': "import './missing.mjs'\nimport './data.txt'", 'data.txt': "import './other.mjs'" })
    expect(found('main.mjs')).toEqual(['data.txt', 'main.mjs', 'missing.mjs'])
  })

  it('are read up to 4 MiB each', () => {
    const text = "import './x.mjs'\n"
    write({ 'most.mjs': text.padEnd(4 * 1024 ** 2), 'more.mjs': text.padEnd(4 * 1024 ** 2 + 1), 'x.mjs': '' })
    expect(found('most.mjs')).toEqual(['most.mjs', 'x.mjs'])
    expect(found('more.mjs')).toEqual(['more.mjs'])
  })

  it('are 2,000 at most', () => {
    const names = Array.from({ length: 2_100 }, (_, index) => `import './x-${index}.mjs'`)
    write({ 'main.mjs': names.join('\n') })
    expect(found('main.mjs')).toHaveLength(2_000)
  })
})

describe('packages that code names', () => {
  it('are found with the nearer places where they would be looked for first', () => {
    write({ 'app/src/main.mjs': "import 'one'", 'node_modules/one/package.json': PACKAGE })
    expect(found('app/src/main.mjs')).toEqual([
      'app/node_modules/one',
      'app/src/main.mjs',
      'app/src/node_modules/one',
      'node_modules/one',
    ])
  })

  it('end the search where they are found', () => {
    const manifest = 'node_modules/one/package.json'
    write({ 'app/main.mjs': "import 'one'", [`app/${manifest}`]: PACKAGE, [manifest]: PACKAGE })
    expect(found('app/main.mjs')).toEqual(['app/main.mjs', 'app/node_modules/one'])
  })

  it.each([
    ['one', 'one'],
    ['one/part/x.js', 'one'],
    ['@scope/one', '@scope/one'],
    ['@scope/one/part', '@scope/one'],
  ])('%s is the package %s', (specifier, name) => {
    write({ 'main.mjs': `import '${specifier}'`, [`node_modules/${name}/package.json`]: PACKAGE })
    expect(found('main.mjs')).toEqual(['main.mjs', `node_modules/${name}`])
  })

  it.each(['node:fs', 'https://example.org/x.mjs', 'data:text/javascript,1', '#inner'])('%s is none', (specifier) => {
    write({ 'main.mjs': `import '${specifier}'` })
    expect(found('main.mjs')).toEqual(['main.mjs'])
  })

  it('bring what they depend on, in each of the three ways, around circles', () => {
    const manifest = (content: object) => JSON.stringify(content)
    write({
      'main.mjs': "import 'one'",
      'node_modules/one/package.json': manifest({
        dependencies: { two: '*' },
        optionalDependencies: { three: '*' },
        peerDependencies: { four: '*' },
        devDependencies: { five: '*' },
      }),
      'node_modules/one/node_modules/two/package.json': manifest({ dependencies: { one: '*' } }),
      'node_modules/three/package.json': '{ damaged',
    })
    expect(found('main.mjs')).toEqual([
      'main.mjs',
      ...['four', 'one', 'one/node_modules/four', 'one/node_modules/one'].map((path) => `node_modules/${path}`),
      ...['one/node_modules/three', 'one/node_modules/two', 'one/node_modules/two/node_modules/one', 'three'].map(
        (path) => `node_modules/${path}`,
      ),
    ])
  })

  it('are found at the end of a link, with what they depend on there', () => {
    write({
      'main.mjs': "import 'one'",
      'node_modules/.store/one@1/node_modules/one/package.json': JSON.stringify({ dependencies: { two: '*' } }),
      'node_modules/.store/one@1/node_modules/two/package.json': PACKAGE,
    })
    symlinkSync('.store/one@1/node_modules/one', join(base, 'node_modules/one'))
    expect(found('main.mjs')).toEqual([
      'main.mjs',
      'node_modules/.store/one@1/node_modules/one',
      'node_modules/.store/one@1/node_modules/one/node_modules/two',
      'node_modules/.store/one@1/node_modules/two',
      'node_modules/one',
    ])
  })

  it.each([
    { count: 20, places: 20 },
    { count: 21, places: 1 },
  ])('become all of their folder when they are more than 20: $count', ({ count, places }) => {
    const names = Array.from({ length: count }, (_, index) => (index % 2 ? `@scope/p-${index}` : `p-${index}`))
    write(Object.fromEntries(names.map((name) => [`node_modules/${name}/package.json`, PACKAGE])))
    write({ 'main.mjs': names.map((name) => `import '${name}'`).join('\n') })
    const [main, ...rest] = found('main.mjs')
    expect([main, rest.length]).toEqual(['main.mjs', places])
    if (count > 20) expect(rest).toEqual(['node_modules'])
  })
})

describe('modules that Python looks for beside a script', () => {
  it.each([
    ['import helper', ['helper']],
    ['import helper.part', ['helper']],
    ['import helper as h, other', ['helper', 'other']],
    ['    import helper', ['helper']],
    ['from helper import x', ['helper']],
    ['from helper.part import x', ['helper']],
    ['from .helper import x', ['helper']],
    ['from . import x', []],
    ['# import helper', []],
  ])('%s', (line, names) => {
    write({ 'app/main.py': `x = 1\n${line}\n` })
    expect(found('app/main.py')).toEqual(
      ['app/main.py', ...names.flatMap((name) => [`app/${name}`, `app/${name}.py`])].sort(),
    )
  })

  it('are followed from file to file', () => {
    write({ 'main.py': 'import one', 'one.py': 'import two', 'two.py': 'import three' })
    const names = ['one', 'two', 'three'].flatMap((name) => [name, `${name}.py`])
    expect(found('main.py')).toEqual(['main.py', ...names].sort())
  })
})

it('looks for packages in every folder above, not in node_modules of node_modules', () => {
  expect(nodeModulesOf('/a/node_modules/b')).toEqual([
    '/a/node_modules/b/node_modules',
    '/a/node_modules',
    '/node_modules',
  ])
})
