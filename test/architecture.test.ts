import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, sourceFiles } from './support/source-files.ts'

/** The layers of architecture.md, lowest first. A file imports its own layer or a lower one, never a higher. */
const LAYERS: readonly (readonly string[])[] = [
  [
    'schema/',
    'disk/',
    'value/',
    'errors',
    'result',
    'project-result',
    'notice-lines',
    'caller-gone',
    'names',
    'define',
    'contracts/',
    'change',
    'rule',
    'options',
    'call-options',
    'clock',
    'version',
    'from-agent-tool',
    'from-handler-tool',
    'tool-failure',
    'source',
    'store',
    'store-parts/',
    'principal',
    'own-file',
  ],
  ['policy/', 'approval/', 'limits/', 'guards/', 'record/', 'store/', 'abilities/'],
  ['steps/', 'context', 'pipeline'],
  ['hub/', 'hub'],
  ['sources/', 'tools/', 'config/', 'create-tool-hub'],
  ['testing/', 'cli/', 'serve/', 'client/', 'adapters/', 'code/', 'index'],
]

/** Folders of one layer that never import each other. */
const SIBLINGS = ['policy/', 'approval/', 'limits/', 'guards/', 'record/', 'store/', 'abilities/']

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
  'config/load-plugins.ts': 'the plugins of the owner; loaded before the service listens',
  'sources/plugins/load-tool-file.ts': 'a tool of the owner, which may change at any time; loaded with `loadWithRoom`',
}

describe('the import graph', () => {
  it('gives every file a layer', () => {
    const homeless = files.map((file) => file.slice('src/'.length)).filter((file) => layerOf(file) === -1)
    expect(homeless).toEqual([])
  })

  it('goes down only', () => {
    const upwards = internal().filter(({ file, target }) => layerOf(target) > layerOf(file))
    expect(upwards).toEqual([])
  })

  it('keeps siblings apart', () => {
    const across = internal().filter(({ file, target }) => {
      const [from, to] = [siblingOf(file), siblingOf(target)]
      return from !== undefined && to !== undefined && from !== to
    })
    expect(across).toEqual([])
  })

  it('lets tools import only the contract, pure packages and builtins that touch nothing', () => {
    const outside = internal().filter(
      ({ file, target }) =>
        file.startsWith('tools/') &&
        !/^(define|errors|result|contracts\/[a-z-]+|disk\/lazy-module)\.ts$|^tools\//.test(target),
    )
    const machine = edges.filter(({ file, specifier }) => file.startsWith('tools/') && MACHINE.test(specifier))
    const globals = files.filter(
      (file) =>
        file.startsWith('src/tools/') &&
        /(?<!\.)\bfetch\(|(?<![\w.-])process\.|\beval\(|new Function/.test(readFileSync(file, 'utf8')),
    )
    expect({ outside, machine, globals }).toEqual({ outside: [], machine: [], globals: [] })
  })

  it('imports later only what the service can load before it listens', () => {
    const late = files.filter((file) => !file.startsWith('src/cli/') && importsPlainly(file))
    expect(late.map((file) => file.slice('src/'.length)).sort()).toEqual(Object.keys(LATE_IMPORTS).sort())
  })

  it('keeps policy pure', () => {
    expect(edges.filter(({ file, specifier }) => file.startsWith('policy/') && MACHINE.test(specifier))).toEqual([])
  })

  it('touches the machine in guards, disk, records, the store, approvals, the hub, config, servers and the CLI only', () => {
    const doors = /^(guards|disk|record|store|approval|hub|config|cli|serve|testing)\//
    expect(edges.filter(({ file, specifier }) => MACHINE.test(specifier) && !doors.test(file))).toEqual([])
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

function layerOf(file: string): number {
  return LAYERS.findIndex((names) =>
    names.some((name) => (name.endsWith('/') ? file.startsWith(name) : file === `${name}.ts`)),
  )
}

function siblingOf(file: string): string | undefined {
  return SIBLINGS.find((folder) => file.startsWith(folder))
}
