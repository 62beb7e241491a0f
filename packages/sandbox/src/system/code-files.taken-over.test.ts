import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { takenOver } from './code-files.ts'

let project: string
let cwd: string

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'taken-over-')))
  onTestFinished(() => rmSync(project, { recursive: true }))
  cwd = join(project, 'sub')
  mkdirSync(cwd)
})

const manifest = (content: object) => writeFileSync(join(project, 'package.json'), JSON.stringify(content))
const nameOf = (line: string) => takenOver(line.split(' '), cwd)?.name

it.each([
  { bin: { 'some-server': './evil.js' } },
  { name: 'some-server', bin: './evil.js' },
  { name: '@a/some-server', bin: './evil.js' },
])('finds that a runner of packages would run the project itself: %j', (content) => {
  manifest(content)
  const taken = [
    'npx some-server',
    '/usr/bin/npx -y some-server@1.0.0 --root .',
    'npm exec -- some-server',
    'bunx some-server',
  ]
  const more = [
    'pnpm dlx some-server',
    'npx -p some-server other',
    'npx --package=some-server@2 other',
    'bun x some-server',
  ]
  for (const line of [...taken, ...more]) expect([line, nameOf(line)]).toEqual([line, 'some-server'])
  for (const line of ['npx other some-server', 'npm run some-server', 'some-server', 'node some-server'])
    expect([line, nameOf(line)]).toEqual([line, undefined])
})

it('finds that a script would import the project itself by the name of a package', () => {
  writeFileSync(join(cwd, 'server.mjs'), `import 'dep'`)
  manifest({ name: 'project' })
  expect(takenOver(['node', './server.mjs'], cwd)).toBeUndefined()
  manifest({ name: 'dep', exports: './evil.mjs' })
  const found = { manifest: join(project, 'package.json'), name: 'dep' }
  expect(takenOver(['node', '--no-warnings', './server.mjs'], cwd)).toEqual(found)
  expect(takenOver(['./server.mjs'], cwd)).toEqual(found)
  expect(takenOver(['python3', './server.mjs'], cwd)).toBeUndefined()
})

it('takes a project that no runner could read for none', () => {
  expect(nameOf('npx some-server')).toBeUndefined()
  writeFileSync(join(project, 'package.json'), '{')
  expect(nameOf('npx some-server')).toBeUndefined()
})
