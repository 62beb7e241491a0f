import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, sourceFiles } from './support/source-files.ts'

/** The folders of src, and what each of them may import. `(root)` are the files of src itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  core: ['lib', 'protocol'],
  system: ['core', 'lib'],
  protocol: [],
  shell: ['core', 'lib'],
  policy: ['core', 'lib', 'shell'],
  limits: ['core', 'lib', 'system'],
  sandbox: ['core', 'lib', 'system'],
  records: ['core', 'lib', 'system'],
  // The store has the tables of features; features have no store, only `core/sql`.
  store: ['core', 'lib', 'system', 'features'],
  approvals: ['core', 'lib', 'system', 'protocol'],
  features: ['core', 'lib', 'system', 'protocol', 'sandbox'],
  hub: ['core', 'lib', 'system', 'shell', 'policy', 'limits', 'sandbox', 'records', 'store', 'approvals', 'features'],
  // For the list of all tools; a tool itself imports only the contract.
  tools: ['core', 'lib', 'features'],
  // The AI SDK adapter makes a runner for sessions.
  adapters: ['core', 'lib', 'hub', 'records', 'features'],
  config: ['core', 'lib', 'system', 'hub', 'policy', 'sources', 'features'],
  sources: ['core', 'lib', 'system', 'hub', 'limits', 'policy', 'records', 'sandbox', 'store', 'adapters', 'tools'],
  '(root)': [
    'core',
    'lib',
    'system',
    'hub',
    'policy',
    'limits',
    'sandbox',
    'store',
    'approvals',
    'features',
    'tools',
    'adapters',
    'sources',
  ],
  client: ['core', 'lib', 'protocol', 'features'],
  public: ['config', 'server'],
  testing: ['(root)', 'core', 'lib', 'system', 'hub', 'sandbox', 'features'],
  server: [
    '(root)',
    'core',
    'lib',
    'system',
    'protocol',
    'policy',
    'limits',
    'records',
    'store',
    'approvals',
    'features',
    'hub',
    'adapters',
    'sources',
    'config',
  ],
  cli: [
    'features',
    '(root)',
    'core',
    'lib',
    'system',
    'protocol',
    'policy',
    'sandbox',
    'records',
    'store',
    'approvals',
    'hub',
    'tools',
    'adapters',
    'sources',
    'config',
    'server',
    'client',
  ],
}

/** Builtins and globals through which code could touch the machine behind the guards' back. */
const MACHINE =
  /^node:(fs|child_process|net|tls|http|https|http2|dgram|dns|worker_threads|cluster|vm|os|process|inspector|repl)\b/

const files = sourceFiles('src').filter((file) => !/\.(test|test-d)\.ts$/.test(file))
const edges = files.flatMap((file) =>
  importsOf(file).map((specifier) => ({ file: file.slice('src/'.length), specifier })),
)

/** A module that is imported later, but not while a call is served: each with the reason. */
const LATE_IMPORTS: Readonly<Record<string, string>> = {
  'config/read-document.ts': 'a config written in JavaScript; read before the service listens',
  'config/read-config.ts': 'the plugins of the owner; loaded before the service listens',
  'features/generated/commands/index.ts': 'the commands of features; loaded by the command line, which is tested below',
  'sources/plugins/folder-source.ts': 'a tool of the owner, which may change at any time; loaded with `loadWithRoom`',
}

describe('the import graph', () => {
  it('crosses folders only where the table allows it', () => {
    const forbidden = internal().filter(({ file, target }) => {
      const [from, to] = [folderOf(file), folderOf(target)]
      return from !== to && !MAY_IMPORT[from]?.includes(to)
    })
    expect(forbidden).toEqual([])
  })

  it('lets tools import only the contract, pure packages and builtins that touch nothing', () => {
    const isTool = (file: string) =>
      (file.startsWith('tools/') && file !== 'tools/index.generated.ts') || /^features\/[\w-]+\/tools\//.test(file)
    const outside = internal().filter(
      ({ file, target }) =>
        isTool(file) && !/^(core|lib)\/index\.ts$/.test(target) && moduleOf(file) !== moduleOf(target),
    )
    const machine = edges.filter(({ file, specifier }) => isTool(file) && MACHINE.test(specifier))
    const globals = files.filter(
      (file) =>
        isTool(file.slice('src/'.length)) &&
        /(?<!\.)\bfetch\(|(?<![\w.-])process\.|\beval\(|new Function/.test(readFileSync(file, 'utf8')),
    )
    expect({ outside, machine, globals }).toEqual({ outside: [], machine: [], globals: [] })
  })

  it('keeps features apart: none imports another', () => {
    const crossing = internal().filter(
      ({ file, target }) =>
        /^features\/(?!generated\/|index\.ts)/.test(file) &&
        target.startsWith('features/') &&
        moduleOf(file) !== moduleOf(target),
    )
    expect(crossing).toEqual([])
  })

  it('imports later only what the service can load before it listens', () => {
    const late = files.filter((file) => !file.startsWith('src/cli/') && importsPlainly(file))
    expect(late.map((file) => file.slice('src/'.length)).sort()).toEqual(Object.keys(LATE_IMPORTS).sort())
  })

  it('loads the commands of features, and nothing else, in the list that the command line alone imports', () => {
    const list = 'features/generated/commands/index.ts'
    const importers = internal().filter(({ target }) => target === list)
    expect([...new Set(importers.map(({ file }) => folderOf(file)))]).toEqual(['cli'])
    const source = readFileSync(`src/${list}`, 'utf8')
    const loaded = [...source.matchAll(/\bimport\(([^)]*)\)/g)].map(([, from]) => from!)
    expect(loaded.filter((from) => !/^'\.\.\/\.\.\/[\w-]+\/commands\.ts'$/.test(from))).toEqual([])
    expect(
      internal().filter(({ file, target }) => /\/commands\.ts$/.test(target) && file !== list && isFeature(target)),
    ).toEqual([])
  })

  it('keeps policy and shell pure', () => {
    expect(edges.filter(({ file, specifier }) => /^(policy|shell)\//.test(file) && MACHINE.test(specifier))).toEqual([])
  })

  it('touches the machine in the sandbox, system, records, the store, approvals, the hub, config, the server and the CLI only', () => {
    const allowed =
      /^(sandbox|features\/browser|features\/code\/engine|system|records|store|approvals|hub|config|cli|server|testing)\/|^core\/lazy-module\.ts$/
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

function isFeature(file: string): boolean {
  return /^features\/(?!generated\/)[^/]+\//.test(file)
}

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '(root)'
}

/** The folder of a file, for features the folder of the feature. */
function moduleOf(file: string): string {
  return /^features\/[^/]+\//.exec(file)?.[0] ?? folderOf(file)
}
