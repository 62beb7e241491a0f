import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { VERSION } from '../../../../core/src/lib/text.ts'
import { ownLauncher } from './own-launcher.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-launcher-')))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** The main file of a package that is installed below a folder, beside one that it needs. */
function installed(...folders: string[]): string {
  const packages = join(home, ...folders, 'node_modules')
  const main = join(packages, 'tool-hub', 'dist', 'cli', 'main.js')
  for (const file of [main, join(packages, 'zod', 'index.js')]) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `// ${file}`)
  }
  return main
}

function manifestIn(...folders: string[]): void {
  writeFileSync(join(home, ...folders, 'package.json'), '{}')
}

const launch = (file: string, folders: readonly string[] = [join(home, 'app')], dryRun = false) =>
  ownLauncher({ file, flags: ['--flag'] }, { folders, home, dryRun })

it('starts a global installation by absolute paths', () => {
  const main = installed('usr', 'lib')
  expect(launch(main)).toEqual([process.execPath, '--flag', main])
  const pnpm = installed('pnpm', 'global', '5')
  manifestIn('pnpm', 'global', '5')
  expect(launch(pnpm)).toEqual([process.execPath, '--flag', pnpm])
})

it('starts a copy in the folder of the user, where npx runs it from its cache', () => {
  const main = installed('.npm', '_npx', 'abc')
  manifestIn('.npm', '_npx', 'abc')
  const packages = join(home, '.tool-hub', 'versions', VERSION, 'node_modules')
  const copy = join(packages, 'tool-hub', 'dist', 'cli', 'main.js')
  expect(launch(main, [], true)).toEqual([process.execPath, '--flag', copy])
  expect(existsSync(packages)).toBe(false)
  expect(launch(main)).toEqual([process.execPath, '--flag', copy])
  expect(readFileSync(copy, 'utf8')).toBe(`// ${main}`)
  expect(existsSync(join(packages, 'zod', 'index.js'))).toBe(true)
  // It stays while agents run it.
  writeFileSync(copy, 'running')
  launch(main)
  expect(readFileSync(copy, 'utf8')).toBe('running')
})

it('refuses an installation of a project, and every place that tools can write to', () => {
  const local = installed('other')
  manifestIn('other')
  expect(() => launch(local)).toThrow('belongs to the project')
  expect(() => launch(installed('app'))).toThrow('where tools can change files')
  const main = installed('usr', 'lib')
  expect(() => launch(main, [home])).toThrow('where tools can change files')
  expect(() => launch(main, [dirname(process.execPath)])).toThrow('where tools can change files')
  // Node would look there for a package that is not beside tool-hub.
  expect(() => launch(main, [join(home, 'node_modules')])).toThrow('where tools can change files')
  expect(() => launch(installed('.npm', '_npx', 'abc'), [join(home, '.tool-hub')])).toThrow('can change files')
  expect(existsSync(join(home, '.tool-hub'))).toBe(false)
})
