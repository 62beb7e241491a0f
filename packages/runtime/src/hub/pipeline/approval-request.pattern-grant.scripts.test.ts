import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

function start(covers: 'pattern' | 'exact', before: Record<string, string> = {}) {
  const asked: ApprovalRequest[] = []
  const root = temporaryFolder()
  const hub = testHub({
    sandbox: { root },
    policy: [{ ask: 'exec' }],
    approve: (request) => {
      asked.push(request)
      return { decision: 'allow', by: 'anna', remember: 'session', covers }
    },
  }) as TestHub
  hubs.push(hub)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, text] of Object.entries(before)) write(path, text)
  const isAsked = async (command: string, more: object = {}) => {
    const count = asked.length
    await hub.callDynamic('core/exec.run', { command, ...more })
    return asked.length > count
  }
  return { root, write, isAsked, pattern: () => asked.at(-1)?.coverage.pattern }
}

const PACKAGE = (scripts: object) => JSON.stringify({ scripts })

it('does not run a script that changed while its approval was waited for', async () => {
  const root = temporaryFolder()
  writeFileSync(join(root, 'build.sh'), 'echo seen')
  const approve = () => {
    writeFileSync(join(root, 'build.sh'), 'echo evil')
    return { decision: 'allow' as const }
  }
  const hub = testHub({ sandbox: { root }, policy: [{ ask: 'exec' }], approve }) as TestHub
  hubs.push(hub)
  const result = await hub.callDynamic('core/exec.run', { command: 'sh build.sh' })
  expect(result.error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('a script that it names') })
})

describe('a remembered command', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['make -Csub test', { Makefile: 'test:', 'sub/Makefile': 'test:' }, 'sub/Makefile', 'test:\n\techo evil'],
    ['make -fother.mk test', { Makefile: 'test:', 'other.mk': 'test:' }, 'other.mk', 'test:\n\techo evil'],
    ['make test', { Makefile: 'include a.mk\ntest:', 'a.mk': '' }, 'a.mk', 'test:\n\techo evil'],
    ['make test', { Makefile: 'test:\n\tsh run.sh', 'run.sh': 'true' }, 'run.sh', 'false'],
    ['docker compose up', { 'compose.yaml': 'a' }, 'compose.yaml', 'b'],
    ['cargo build', { 'Cargo.toml': 'a' }, 'build.rs', 'b'],
    ['gradle build', { 'build.gradle': 'a' }, 'build.gradle', 'b'],
    [
      'npm run dev',
      { 'package.json': PACKAGE({ dev: 'node tools/dev.js' }), 'tools/dev.js': '1' },
      'tools/dev.js',
      '2',
    ],
    [
      'npm run dev',
      { 'package.json': PACKAGE({ dev: 'run-s dev:*', 'dev:a': 'true' }) },
      'package.json',
      PACKAGE({ dev: 'run-s dev:*', 'dev:a': 'false' }),
    ],
    [
      'npm run dev',
      { 'package.json': PACKAGE({ dev: 'npm --prefix sub run dev' }), 'sub/package.json': PACKAGE({ dev: 'true' }) },
      'sub/package.json',
      PACKAGE({ dev: 'false' }),
    ],
    ['npm install', { 'package.json': '{}' }, '.npmrc', 'script-shell=./x'],
    ['pytest tests/a.py', { 'tests/a.py': '1' }, '', 'pytest tests/b.py'],
    ['go test ./a', {}, '', 'go test ./b'],
    ['patch -p1', {}, '', 'patch -p1 < x.diff'],
    ['unzip a.zip', {}, '', 'unzip b.zip'],
    ['git am -- a', {}, '', 'git am -- b'],
    ['npm run dev', { 'package.json': PACKAGE({ dev: 'cat' }) }, '', 'echo evil | npm run dev'],
    ['npm run dev', { 'package.json': PACKAGE({ dev: 'cat' }) }, '', 'npm run dev <<< evil'],
  ])('%s of %j is still the same after %s became %s', async (command, before, path, after) => {
    const { write, isAsked, pattern } = start('pattern', before)
    await isAsked(command)
    expect(pattern()).toBeDefined()
    expect(await isAsked(command)).toBe(false)
    if (path === '') expect(await isAsked(after)).toBe(true)
    else {
      write(path, after)
      expect(await isAsked(command)).toBe(true)
    }
  })

  it.each<[string, Record<string, string>]>([
    ['node app config.json', { 'app/index.js': '1', 'config.json': '{}' }],
    ['python3 -m tool.gone data.json', { 'data.json': '{}' }],
    ['npm run dev -w pkg', { 'package.json': '{}', 'packages/pkg/package.json': PACKAGE({ dev: 'true' }) }],
    ['npm run dev --workspaces', { 'package.json': '{}' }],
    ['npm run dev', { 'package.json': PACKAGE({ dev: 'npm test --workspaces' }) }],
    ['pnpm --filter pkg run dev', { 'package.json': '{}' }],
    ['pnpm -r run dev', { 'package.json': '{}' }],
    ['yarn workspace pkg run dev', { 'package.json': '{}' }],
    [`node x.js ${'a '.repeat(40)}y.js`, { 'x.js': '1' }],
    ['cat x.sql | psql db', { 'x.sql': '' }],
    ['patch -p1 < x.diff', { 'x.diff': '' }],
  ])('%s is offered for this exact call only', async (command, before) => {
    const { isAsked, pattern } = start('pattern', before)
    await isAsked(command)
    expect(pattern()).toBeUndefined()
  })

  it.each<[string, string]>([
    ['node build', 'build.js'],
    ['node app', 'app/index.js'],
    ['python3 -m tool.run', 'tool/run.py'],
    ['make -fother.mk', 'other.mk'],
  ])('%s, as it is, ends with a change of %s', async (command, path) => {
    const { write, isAsked } = start('exact', { [path]: '1' })
    await isAsked(command)
    expect(await isAsked(command)).toBe(false)
    write(path, '2')
    expect(await isAsked(command)).toBe(true)
  })

  it.each(['sh < x.sh', 'cat x.sh | sh', 'eval "$(cat x.sh)"', 'sh -c "$(cat x.sh)"', 'find x.sh -exec sh {} +'])(
    '%s is never remembered, because its words do not show the code',
    async (command) => {
      const { isAsked } = start('exact', { 'x.sh': 'true' })
      expect(await isAsked(command)).toBe(true)
      expect(await isAsked(command)).toBe(true)
    },
  )

  it('does not cover a script that is a link to a place outside', async () => {
    const { root, isAsked } = start('exact')
    const other = temporaryFolder()
    symlinkSync(join(other, 'a.js'), join(root, 'x.js'))
    writeFileSync(join(other, 'a.js'), '1')
    await isAsked('node x.js')
    rmSync(join(root, 'x.js'))
    symlinkSync(join(other, 'b.js'), join(root, 'x.js'))
    writeFileSync(join(other, 'b.js'), '1')
    expect(await isAsked('node x.js')).toBe(true)
  })

  it('does not cover the same words with other input, in another folder or with variables', async () => {
    const before = { 'package.json': PACKAGE({ dev: 'cat' }), 'sub/package.json': PACKAGE({ dev: 'echo evil' }) }
    const { isAsked } = start('pattern', before)
    await isAsked('npm run dev')
    expect(await isAsked('npm run dev')).toBe(false)
    for (const more of [{ stdin: 'evil' }, { cwd: 'sub' }, { env: { COLOUR: 'red' } }])
      expect([more, await isAsked('npm run dev', more)]).toEqual([more, true])
    expect(await isAsked('cd sub && npm run dev')).toBe(true)
  })
})
