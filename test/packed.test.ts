import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

// The package is packed, and its types are checked by several compilers.
vi.setConfig({ testTimeout: 600_000 })

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

const { exports, dependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync('packages/tool-hub/package.json', 'utf8'),
) as Manifest
const optional = Object.keys(peerDependenciesMeta)
/** Packed. People install it with every project that uses it. */
const MAX_BYTES = 5_000_000
const folder = mkdtempSync(join(tmpdir(), 'tool-hub-types-'))

/** A program with the package as it is published, and without its optional packages. */
beforeAll(() => {
  const own = join(folder, 'node_modules/tool-hub')
  mkdirSync(own, { recursive: true })
  cpSync('packages/tool-hub/package.json', join(own, 'package.json'))
  cpSync('packages/tool-hub/dist', join(own, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(js|mjs|map|wasm)$/.test(path),
  })
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve('node_modules', name), link)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const entries = Object.entries(exports).filter(([, entry]) => typeof entry === 'object')
  const imports = entries.map(([path], at) => `import * as entry${at} from 'tool-hub${path.slice(1)}'`)
  const uses = `export const names = [${entries.map((_, at) => `entry${at}`).join(', ')}].flatMap(Object.keys)`
  writeFileSync(join(folder, 'all.ts'), `${imports.join('\n')}\n${uses}\n`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the declarations of the package', () => {
  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compile without optional packages when libraries are checked: %s, %s', (module, moduleResolution) => {
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--noEmit']
    const words = [...strict, '--module', module, '--moduleResolution', moduleResolution, '--target', 'es2023']
    const tsc = resolve('node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, ...words, '--types', 'node', 'all.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
  })
})

describe('the archive of the package', () => {
  it('has at most 5 MB', () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
    const { stdout } = spawnSync('npm', args, { cwd: 'packages/tool-hub', encoding: 'utf8', maxBuffer: 1e8 })
    const [{ size }] = JSON.parse(stdout) as [{ size: number }]
    expect(size).toBeLessThan(MAX_BYTES)
  })
})

describe('the code of the package', () => {
  const modules = readdirSync('packages/tool-hub/dist', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && !path.startsWith('console'))
    .map((path) => [path, readFileSync(join('packages/tool-hub/dist', path), 'utf8')] as const)

  it.each(optional)('can be bundled where %s is not installed: its import is dynamic and followed by catch', (name) => {
    const quoted = `["'\`]${name.replaceAll(/[/.]/g, '\\$&')}["'\`]`
    const failing = new RegExp(`(?:from|import)\\s*${quoted}|import\\(${quoted}\\)(?!\\.catch\\()`)
    expect(modules.filter(([, code]) => failing.test(code)).map(([path]) => path)).toEqual([])
  })

  it('imports only packages that package.json lists: another is there only by chance', () => {
    // `tool-hub new` writes a test for others.
    const listed = new Set([...Object.keys(dependencies), ...optional, 'vitest'])
    const missing = modules.flatMap(([path, code]) =>
      [...code.matchAll(/^(?:import|export)\b[^'"\n]*["']((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^"']*)?["'];?$/gm)]
        .map(([, name]) => `${path}: ${name}`)
        .filter((found) => !listed.has(found.split(': ')[1]!)),
    )
    expect(missing).toEqual([])
  })
})
