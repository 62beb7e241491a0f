import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, sourceFiles } from './support/source-files.ts'

/** The packages from the lowest to the highest: each imports only packages before it. */
const ORDER = [
  ...['shell', 'core', 'policy', 'sandbox', 'runtime', 'browser', 'code', 'features', 'adapters', 'mcp', 'client'],
  ...['cluster', 'library', 'testing', 'config', 'server', 'console', 'base', 'tool-hub'],
]

/** What people install: each has the packages that it needs inside, and lists what those import. */
const PUBLISHED = ['base', 'tool-hub']

/** Packages with folders that are modules of their own, and what each of those may import. `(root)`: files beside them. */
const MAY_IMPORT: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  core: { lib: [], protocol: [] },
  runtime: {
    limits: [],
    records: [],
    store: [],
    approvals: [],
    tools: [],
    hub: ['limits', 'records', 'store', 'approvals'],
  },
}

/** Builtins and globals through which code could touch the machine behind the guards' back. */
const MACHINE =
  /^node:(fs|child_process|net|tls|http|https|http2|dgram|dns|worker_threads|cluster|vm|os|process|inspector|repl)\b/

const files = sourceFiles('packages').filter((file) => !/\.(test|test-d)\.tsx?$|\/(dist|node_modules)\//.test(file))
const edges = files.flatMap((file) =>
  importsOf(file).map((specifier) => ({ file: file.slice('packages/'.length), specifier })),
)

/** A module that is imported later, but not while a call is served: each with the reason. */
const LATE_IMPORTS: Readonly<Record<string, string>> = {
  'config/src/read-document.ts': 'a config written in JavaScript; read before the service listens',
  'config/src/read-config.ts': 'the plugins of the owner; loaded before the service listens',
  'tool-hub/src/cli/generated/index.ts': 'the commands of features; loaded by the command line, which is tested below',
  'adapters/src/sources/plugins/folder-source.ts':
    'a tool of the owner, which may change at any time; loaded with `loadWithRoom`',
}

/** A package that another one lists and does not import with a name in its code: each with the reason. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  'tool-hub @tool-hub/client': 'an entry of its `exports`',
  'tool-hub @tool-hub/console': 'the build makes its pages',
  'tool-hub @tool-hub/testing': 'an entry of its `exports`',
}

describe('the packages', () => {
  it('import only packages that their package.json lists, and only lower ones', () => {
    const forbidden = edges.flatMap(({ file, specifier }) => {
      const [, to] = /^@tool-hub\/([\w-]+)/.exec(specifier) ?? []
      if (to === undefined) return []
      const from = packageOf(file)
      const isListed = manifestOf(from).has(`@tool-hub/${to}`)
      return isListed && ORDER.indexOf(to) < ORDER.indexOf(from) && ORDER.includes(to) ? [] : [{ file, specifier }]
    })
    expect(forbidden).toEqual([])
  })

  it('say in their README what they may import', () => {
    for (const unit of ORDER.filter((name) => name !== 'tool-hub')) {
      const text = readFileSync(`packages/${unit}/README.md`, 'utf8')
      const own = [...manifestOf(unit)].flatMap((name) => /^@tool-hub\/([\w-]+)$/.exec(name)?.[1] ?? [])
      const [, line = ''] = /^May import: ([\s\S]*?)\.$/m.exec(text) ?? []
      const named = [...line.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!)
      expect({ unit, named }).toEqual({
        unit,
        named: own
          .filter((name) => name !== unit)
          .sort()
          .map(String),
      })
      expect(text.split('\n').length).toBeLessThan(45)
    }
  })

  it('are all in the order', () => {
    expect(readdirSync('packages').sort()).toEqual([...ORDER].sort())
  })

  it('list the other packages that they import', () => {
    const missing = edges.filter(({ file, specifier }) => {
      const name = nameOf(specifier)
      // `tool-hub new` writes a test for others.
      const isTemplate = file === 'tool-hub/src/cli/commands/new.ts'
      if (name === undefined || isTemplate || /^(node:|@tool-hub\/)/.test(specifier) || packageOf(file) === 'console')
        return false
      return !manifestOf(packageOf(file)).has(name) && !manifestOf(packageOf(file)).has(`@types/${name}`)
    })
    expect(missing).toEqual([])
  })

  it('list no package that their code does not import', () => {
    const superfluous = ORDER.flatMap((unit) => {
      const code = ownFiles(unit).map((file) => readFileSync(file, 'utf8'))
      const isImported = (name: string) => code.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`))
      const listed = [...manifestOf(unit)].filter((name) => name !== unit && name !== `@tool-hub/${unit}`)
      // A published package lists what the packages inside it import.
      const candidates = PUBLISHED.includes(unit) ? listed.filter((name) => name.startsWith('@tool-hub/')) : listed
      return candidates.filter((name) => !isImported(name.replace(/^@types\//, ''))).map((name) => `${unit} ${name}`)
    })
    expect(superfluous.sort()).toEqual(Object.keys(NOT_IMPORTED).sort())
  })

  it('are inside tool-hub, which lists what they import, and nothing else', () => {
    const installedBy = (unit: string) => {
      const { dependencies, optionalDependencies } = JSON.parse(readFileSync(`packages/${unit}/package.json`, 'utf8'))
      return Object.keys({ ...dependencies, ...optionalDependencies })
    }
    const inside = ORDER.filter((unit) => unit !== 'console' && !PUBLISHED.includes(unit)).flatMap(installedBy)
    const own = edges.flatMap(({ file, specifier }) => (packageOf(file) === 'tool-hub' ? [nameOf(specifier)] : []))
    const wanted = new Set([...inside, ...own])
    const listed = installedBy('tool-hub')
    expect(listed.filter((name) => !wanted.has(name))).toEqual([])
    expect(inside.filter((name) => !name.startsWith('@tool-hub/') && !listed.includes(name))).toEqual([])
  })

  it('have one version of each other package', () => {
    const manifests = ['package.json', ...ORDER.map((unit) => `packages/${unit}/package.json`)]
    // A peer has a range of what works.
    for (const kinds of [['dependencies', 'optionalDependencies', 'devDependencies'], ['peerDependencies']]) {
      const ranges = new Map<string, Set<string>>()
      for (const manifest of manifests.map((file) => JSON.parse(readFileSync(file, 'utf8'))))
        for (const [name, range] of kinds.flatMap((kind) => Object.entries<string>(manifest[kind] ?? {})))
          ranges.set(name, (ranges.get(name) ?? new Set()).add(range))
      expect([...ranges].filter(([, found]) => found.size > 1)).toEqual([])
    }
  })

  it('import nothing of each other by a path', () => {
    expect(internal().filter(({ file, target }) => packageOf(file) !== packageOf(target))).toEqual([])
  })
})

describe('the import graph', () => {
  it('crosses folders of a package only where the table allows it', () => {
    const forbidden = internal().filter(({ file, target }) => {
      const [from, to] = [folderOf(file), folderOf(target)]
      const allowed = MAY_IMPORT[packageOf(file)]?.[from]
      return allowed !== undefined && from !== to && !allowed.includes(to)
    })
    expect(forbidden).toEqual([])
  })

  it('shows the console the client, the protocol, the table of errors and how text is made visible', () => {
    const seen = /^@tool-hub\/(client|core\/protocol(\/[\w-]+)?|core\/errors|core\/lib\/escape-text)$/
    const others = edges.filter(
      ({ file, specifier }) => packageOf(file) === 'console' && /^@tool-hub\//.test(specifier) && !seen.test(specifier),
    )
    expect(others).toEqual([])
    expect([...manifestOf('console')].filter((name) => /^@tool-hub\//.test(name))).toEqual([
      ...['@tool-hub/client', '@tool-hub/core', '@tool-hub/console'],
    ])
  })

  it('knows many machines only where a hub or a service is put together', () => {
    const importers = edges.filter(({ specifier }) => specifier.startsWith('@tool-hub/cluster'))
    expect([...new Set(importers.map(({ file }) => packageOf(file)))].sort()).toEqual([
      'config',
      'library',
      'server',
      'tool-hub',
    ])
  })

  it('lets tools import only the contract, pure packages and builtins that touch nothing', () => {
    const isTool = (file: string) =>
      (file.startsWith('runtime/src/tools/') && file !== 'runtime/src/tools/index.generated.ts') ||
      /^(features\/src\/[\w-]+|browser\/src|code\/src)\/tools\//.test(file)
    const outside = edges.filter(
      ({ file, specifier }) =>
        isTool(file) && /^@tool-hub\//.test(specifier) && !/^@tool-hub\/core(\/lib)?$/.test(specifier),
    )
    const machine = edges.filter(({ file, specifier }) => isTool(file) && MACHINE.test(specifier))
    const globals = files.filter(
      (file) =>
        isTool(file.slice('packages/'.length)) &&
        /(?<!\.)\bfetch\(|(?<![\w.-])process\.|\beval\(|new Function/.test(readFileSync(file, 'utf8')),
    )
    expect({ outside, machine, globals }).toEqual({ outside: [], machine: [], globals: [] })
  })

  it('keeps features apart: none imports another', () => {
    const crossing = internal().filter(
      ({ file, target }) => packageOf(file) === 'features' && folderOf(file) !== folderOf(target),
    )
    const own = edges.filter(
      ({ file, specifier }) => packageOf(file) === 'features' && specifier.startsWith('@tool-hub/features'),
    )
    expect([...crossing, ...own]).toEqual([])
  })

  it('imports later only what the service can load before it listens', () => {
    const late = files.filter(
      (file) => !/^packages\/(tool-hub\/src\/cli\/(?!generated)|console\/)/.test(file) && importsPlainly(file),
    )
    expect(late.map((file) => file.slice('packages/'.length)).sort()).toEqual(Object.keys(LATE_IMPORTS).sort())
  })

  it('loads the commands of features, and nothing else, in the list that the command line alone has', () => {
    const list = 'packages/tool-hub/src/cli/generated/index.ts'
    const loaded = [...readFileSync(list, 'utf8').matchAll(/\bimport\(([^)]*)\)/g)].map(([, from]) => from!)
    expect(loaded.length).toBeGreaterThan(0)
    expect(loaded.filter((from) => !/^'@tool-hub\/(features\/[\w-]+|browser|code)\/commands'$/.test(from))).toEqual([])
    const users = edges.filter(
      ({ file, specifier }) => /^@tool-hub\/.*\/commands$/.test(specifier) && `packages/${file}` !== list,
    )
    expect(users).toEqual([])
  })

  it('keeps policy and shell pure', () => {
    expect(edges.filter(({ file, specifier }) => /^(policy|shell)\//.test(file) && MACHINE.test(specifier))).toEqual([])
  })

  it('touches the machine only where the table of folders says so', () => {
    const allowed =
      /^(sandbox|browser|code\/src\/engine|runtime\/src\/(records|store|approvals|hub)|cluster|config|tool-hub\/src\/cli|testing|server|console)\/|^core\/src\/lazy-module\.ts$/
    expect(edges.filter(({ file, specifier }) => MACHINE.test(specifier) && !allowed.test(file))).toEqual([])
  })
})

/** Forms of `import(` that load nothing by themselves: within `lazyModule`, of Node's own modules, types, methods. */
const HARMLESS_IMPORTS =
  /\blazyModule\(\s*(?:async )?\(\) =>\s*(?:\(await )?import\(|import\('node:|typeof import\(|import\('[^']+'\)\.[A-Z]|(?:#|\.|async )import\(|^ {2}import\($/gm

/** Whether a file imports a package or a file with `import()`, and not by `lazyModule`. */
function importsPlainly(file: string): boolean {
  return /\bimport\(/.test(readFileSync(file, 'utf8').replace(HARMLESS_IMPORTS, ''))
}

function internal(): { file: string; target: string }[] {
  return edges
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ file, specifier }) => ({ file, target: normalize(join(dirname(file), specifier)) }))
}

/** The names of the packages that a package lists, of whatever kind. */
function manifestOf(unit: string): ReadonlySet<string> {
  const manifest = JSON.parse(readFileSync(`packages/${unit}/package.json`, 'utf8'))
  const { dependencies, optionalDependencies, peerDependencies, devDependencies } = manifest
  const kinds = [dependencies, optionalDependencies, peerDependencies, devDependencies]
  return new Set([...kinds.flatMap((kind) => Object.keys(kind ?? {})), manifest.name])
}

/** The files of a package besides tests, those included that `sourceFiles` leaves out. */
function ownFiles(unit: string): string[] {
  return readdirSync(`packages/${unit}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.(test|test-d|examples))\.(tsx?|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/(dist|node_modules)\//.test(file))
}

/** The package of what is imported by a name. */
function nameOf(specifier: string): string | undefined {
  return /^(?:@[\w.-]+\/)?[a-z][\w.-]*/.exec(specifier)?.[0]
}

function packageOf(file: string): string {
  return file.slice(0, file.indexOf('/'))
}

/** The folder of a file below `src` of its package. */
function folderOf(file: string): string {
  const [, , folder = '', ...rest] = file.split('/')
  return rest.length > 0 ? folder : '(root)'
}
