import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { codeBlocks, PAGES } from './support/markdown-blocks.ts'

// The packages are packed, and their types are checked by several compilers.
vi.setConfig({ testTimeout: 600_000 })

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

/** A package as it is published, in a program that has installed it and none of its optional packages. */
interface Packed {
  readonly unit: string
  readonly manifest: Manifest
  readonly folder: string
  readonly archive: string
}

/** Version 7, and 5.9. */
const COMPILERS = ['typescript', 'typescript-5']
const RESOLUTIONS = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const
const README_OF_BASE = 'packages/base/README.md'
const home = mkdtempSync(join(tmpdir(), 'tool-hub-packed-'))
const packages = ['tool-hub', 'base'].map((unit): Packed => {
  const manifest = JSON.parse(readFileSync(`packages/${unit}/package.json`, 'utf8')) as Manifest
  const archive = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
  return { unit, manifest, folder: join(home, unit), archive: join(home, archive) }
})
const base = packages.at(-1)!
const each = packages.map((packed) => [packed.manifest.name, packed] as const)

beforeAll(() => {
  for (const { unit, manifest, folder, archive } of packages) {
    const own = join(folder, 'node_modules', manifest.name)
    mkdirSync(own, { recursive: true })
    run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], `packages/${unit}`)
    run('tar', ['xzf', archive, '--strip-components=1', '-C', own], home)
    for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
      const link = join(folder, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(resolve('node_modules', name), link)
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  }
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe.each(each)('the archive of %s', (_, { archive, manifest, folder, unit }) => {
  it('has at most 5 MB: people install it with every project that uses it', () => {
    expect(statSync(archive).size).toBeLessThan(5_000_000)
  })

  it('has every file that its package.json names, its README and its license', () => {
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    )
    const missing = [...entries, 'README.md', 'LICENSE', 'CHANGELOG.md'].filter(
      (file) => !existsSync(join(folder, 'node_modules', manifest.name, file)),
    )
    expect(missing).toEqual([])
  })

  it.each(COMPILERS.flatMap((compiler) => RESOLUTIONS.map((resolution) => [compiler, ...resolution] as const)))(
    'has declarations that compile without optional packages when libraries are checked: %s, %s, %s',
    (compiler, module, moduleResolution) => {
      const entries = Object.entries(manifest.exports).flatMap(([path, entry]) =>
        typeof entry === 'string' ? [] : [`${manifest.name}${path.slice(1)}`],
      )
      const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}'`)
      const uses = `export const names = [${entries.map((_, at) => `entry${at}`).join(', ')}].flatMap(Object.keys)`
      writeFileSync(join(folder, 'all.ts'), `${imports.join('\n')}\n${uses}\n`)
      // As types where they are some: `export` takes both.
      const named = importsOfDocs(manifest.name).map(
        ([name, from], at) => `export { ${name} as n${at} } from '${from}'`,
      )
      writeFileSync(join(folder, 'docs.ts'), `${named.join('\n')}\n`)
      const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--noEmit']
      const words = [...strict, '--module', module, '--moduleResolution', moduleResolution, '--target', 'es2023']
      const tsc = resolve('node_modules', compiler, 'bin/tsc')
      const args = [tsc, ...words, '--types', 'node', 'all.ts', 'docs.ts']
      const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
      expect(stdout).toBe('')
    },
  )

  it('can be bundled without a list of what to leave out', () => {
    const entries = Object.entries(manifest.exports).flatMap(([path, entry]) =>
      typeof entry === 'string'
        ? []
        : [`export * as e${path.replaceAll(/\W/g, '_')} from '${manifest.name}${path.slice(1)}'`],
    )
    writeFileSync(join(folder, 'bundle.mjs'), entries.join('\n'))
    const args = ['bundle.mjs', '--bundle', '--platform=node', '--format=esm', '--outfile=bundled.mjs']
    const { status, stderr } = spawnSync(resolve('node_modules/.bin/esbuild'), [...args, '--log-level=error'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  describe('has code that', () => {
    const dist = `packages/${unit}/dist`
    const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js') && !path.startsWith('console'))
      .map((path) => [path, readFileSync(join(dist, path), 'utf8')] as const)
    const optional = Object.keys(manifest.peerDependenciesMeta)

    it.each(optional)('can be bundled where %s is not installed: its import is dynamic, followed by catch', (name) => {
      const quoted = `["'\`]${name.replaceAll(/[/.]/g, '\\$&')}["'\`]`
      const failing = new RegExp(`(?:from|import)\\s*${quoted}|import\\(${quoted}\\)(?!\\.catch\\()`)
      expect(modules.filter(([, code]) => failing.test(code)).map(([path]) => path)).toEqual([])
    })

    it('imports only packages that package.json lists: another is there only by chance', () => {
      // `tool-hub new` writes a test for others.
      const listed = new Set([...Object.keys(manifest.dependencies), ...optional, 'vitest'])
      expect(importedBy(modules).filter(([, name]) => !listed.has(name))).toEqual([])
    })
  })
})

describe('an installation of @tool-hub/base', () => {
  /** An empty folder, and what npm would install there. */
  const folder = join(home, 'alone')
  beforeAll(() => {
    const modules = join(folder, 'node_modules')
    cpSync(join(base.folder, 'node_modules/@tool-hub'), join(modules, '@tool-hub'), { recursive: true })
    for (const path of installedWith(base.manifest)) cpSync(path, join(folder, path), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  })

  it('lists at most 15 packages, of which its code or its declarations use each, and has none of features', () => {
    const names = Object.keys(base.manifest.dependencies)
    expect(names.length).toBeLessThanOrEqual(15)
    const dist = 'packages/base/dist'
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => /\.(js|d\.ts)$/.test(path))
    const used = importedBy(files.map((path) => [path, readFileSync(join(dist, path), 'utf8')] as const))
    const usedNames = new Set(used.map(([, name]) => name))
    expect(names.filter((name) => !usedNames.has(name))).toEqual([])
    expect(readdirSync(join(dist, 'types')).sort()).toEqual([
      ...['base', 'core', 'library', 'policy', 'runtime', 'sandbox', 'shell'],
    ])
  })

  it('takes at most 60 MB', () => {
    const kilobytes = Number.parseInt(run('du', ['-sk', 'node_modules'], folder), 10)
    expect(kilobytes).toBeLessThan(60_000)
  })

  it('runs the example of its README', () => {
    const [example] = codeBlocks(README_OF_BASE).filter(({ language }) => language === 'js')
    mkdirSync(join(folder, 'docs'), { recursive: true })
    writeFileSync(join(folder, 'docs/start.md'), 'The first page.')
    writeFileSync(join(folder, 'example.mjs'), example!.text)
    expect(run(process.execPath, ['example.mjs'], folder)).toContain('The first page.')
  })

  it('undoes a change, reads a page, runs a command, records all, and says what it does not have', () => {
    writeFileSync(join(folder, 'everything.mjs'), EVERYTHING)
    const lines = run(process.execPath, ['everything.mjs'], folder).trim().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toEqual([
      'written',
      false,
      expect.stringContaining('a page that is read apart'),
      expect.stringContaining('from a shell'),
      ['core/fs.writeText', 'core/web.fetch', 'core/exec.run'],
      'CONFIG_INVALID createToolHub of @tool-hub/base has no option "memory".',
      hasOwnSqlite() ? '[]' : expect.stringContaining('npm install @photostructure/sqlite'),
    ])
  })
})

/** What needs a file of the package by its name: threads, the grammar, the bridge, the spawner of commands. */
const EVERYTHING = `
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createToolHub, openStore } from '@tool-hub/base'

const page = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>x</title><p>a page that is read apart'))
await new Promise((resolve) => page.listen(0, '127.0.0.1', resolve))
const hub = createToolHub({
  sandbox: { root: '.', network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
  policy: [{ allow: 'exec', on: 'echo *' }, { allow: 'write:fs', on: './note.txt' }],
  run: 'one',
})
const textOf = async (name, input) => {
  const result = await hub.callDynamic(name, input)
  return result.ok ? result.content[0].text : result.error.message
}
const told = []
await textOf('core/fs.writeText', { path: 'note.txt', text: 'written' })
told.push(readFileSync('note.txt', 'utf8'))
await hub.undo({ run: 'one' })
told.push(existsSync('note.txt'))
told.push(await textOf('core/web.fetch', { url: 'http://127.0.0.1:' + page.address().port + '/' }))
told.push(await textOf('core/exec.run', { command: 'echo from a shell' }))
const record = readFileSync('runs/one/events.jsonl', 'utf8')
told.push([...new Set(record.match(/core\\/(?:web\\.fetch|exec\\.run|fs\\.writeText)/g))])
await hub.close()
page.close()
try {
  createToolHub({ memory: {} })
} catch ({ code, message }) {
  told.push(code + ' ' + message)
}
try {
  const store = openStore('data')
  await store.check()
  told.push(JSON.stringify(await store.grants.list()))
  await store.close()
} catch ({ fix }) {
  told.push(fix.hint)
}
console.log(JSON.stringify(told))
`

/** The names that pages and the README of the package import of it, and of which entry. */
function importsOfDocs(name: string): readonly (readonly [name: string, from: string])[] {
  const texts = [...PAGES, README_OF_BASE].flatMap(codeBlocks).map(({ text }) => text)
  const found = texts.flatMap((text) =>
    [...text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+['"]([^'"]+)['"]/g)].flatMap(([, names, from]) =>
      names!
        .split(',')
        .map((each) =>
          each
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*/, ''),
        )
        .filter((each) => each !== '' && (from === name || from!.startsWith(`${name}/`)))
        .map((each) => `${each} ${from}`),
    ),
  )
  return [...new Set(found)].map((pair) => pair.split(' ') as [string, string])
}

/** The packages that modules import by a name, each with the module. */
function importedBy(modules: readonly (readonly [path: string, code: string])[]): (readonly [string, string])[] {
  return modules.flatMap(([path, code]) =>
    [
      ...code.matchAll(/^(?:import|export)\b[^'"\n]*["']((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^"']*)?["'];?$/gm),
      ...code.matchAll(/\bimport\(["']((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^"']*)?["']\)/g),
    ].map(([, name]) => [path, name!] as const),
  )
}

/** The folders in `node_modules` of what npm installs with a package, each as this workspace has it. */
function installedWith(manifest: Manifest): ReadonlySet<string> {
  const paths = new Set<string>()
  const add = (names: Readonly<Record<string, unknown>> | undefined, from: string, isOptional: boolean): void => {
    for (const name of Object.keys(names ?? {})) {
      const path = placeOf(name, from)
      if (path === undefined && isOptional) continue
      if (path === undefined) throw new Error(`${from} needs ${name}, which is not installed.`)
      if (paths.has(path)) continue
      paths.add(path)
      const { dependencies, optionalDependencies } = JSON.parse(
        readFileSync(join(path, 'package.json'), 'utf8'),
      ) as Manifest
      add({ ...dependencies }, path, false)
      add(optionalDependencies, path, true)
    }
  }
  add(manifest.dependencies, '', false)
  add(manifest.optionalDependencies, '', true)
  // A folder in another comes with that one.
  return new Set([...paths].filter((path) => path.lastIndexOf('node_modules/') === 0))
}

/** The folder of a package that one at `from` would load. */
function placeOf(name: string, from: string): string | undefined {
  const path = join(from, 'node_modules', name)
  if (existsSync(path)) return path
  return from === '' ? undefined : placeOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))))
}

function hasOwnSqlite(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major >= 24 || (major === 22 && minor >= 16)
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1e8 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}
