import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { HubOptions } from '../packages/core/src/options.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-later-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  execFileSync('git', ['init', '-q', root])
})

function write(path: string, content: string | object = ''): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const hook = (text: string) => write('.git/hooks/pre-commit', `#!/bin/sh\n${text}\n`)

/** A hub on the root whose tools may change everything; nobody answers unless `approve` does. */
function hubHere(options: HubOptions = {}) {
  const hub = createToolHub({
    sandbox: { root },
    data: join(root, '.tool-hub'),
    runs: join(root, 'runs'),
    run: 'run-1',
    policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }, { allow: 'write:fs' }],
    ...options,
  })
  onTestFinished(() => hub.close())
  return hub
}

/** A hub whose approver agrees and remembers why it was asked. */
function askedHub() {
  const reasons: string[] = []
  const hub = hubHere({
    approve: ({ reason }) => {
      reasons.push(reason)
      return { decision: 'allow' }
    },
  })
  return { hub, reasons }
}

const events = () =>
  read('runs/run-1/events.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; files?: unknown; runLater?: string[] })

describe('what git hooks obey, changed by a file tool', () => {
  it('the config of a program that a hook starts asks, and names the program', async () => {
    hook('npx eslint .')
    const refusing = hubHere({ run: 'run-0' })
    const refused = await refusing.call('core/fs.writeText', { path: 'eslint.config.js', text: 'evil()' })
    expect([refused.error?.code, existsSync(join(root, 'eslint.config.js'))]).toEqual(['APPROVAL_UNAVAILABLE', false])

    const explained = await refusing.explain('core/fs.writeText', { path: 'eslint.config.js', text: 'evil()' })
    expect([explained.effect, explained.reason]).toEqual(['ask', expect.stringContaining('eslint')])

    const { hub, reasons } = askedHub()
    const written = await hub.call('core/fs.writeText', { path: 'eslint.config.js', text: 'export default []' })
    expect([written.error, reasons]).toEqual([
      undefined,
      [expect.stringContaining('eslint (started by a git hook or by settings of the project)')],
    ])
  })

  it('the script that a hook starts is closed, and so is the config of a linter of staged files', async () => {
    hook('./scripts/check.sh')
    write('scripts/check.sh', 'true')
    const { hub, reasons } = askedHub()
    for (const path of ['scripts/check.sh', '.lintstagedrc.json', 'commitlint.config.js', '.huskyrc']) {
      const result = await hub.call('core/fs.writeText', { path, text: 'evil', overwrite: true })
      expect([path, result.error?.code]).toEqual([path, 'PATH_DENIED'])
    }
    expect(reasons).toEqual([])
  })

  it.each<[string, (path: string) => [string, object]]>([
    ['written', (path) => ['core/fs.writeText', { path, text: '{"lint-staged":{"*":"sh evil.sh"}}', overwrite: true }]],
    [
      'edited',
      (path) => ['core/fs.edit', { path, edits: [{ oldText: '"a"', newText: '"a", "lint-staged": { "*": "sh" }' }] }],
    ],
    ['moved', (path) => ['core/fs.move', { from: 'other.json', to: `new/${path}`, mkdirp: true }]],
    ['copied', (path) => ['core/fs.copy', { from: 'other.json', to: `new/${path}`, mkdirp: true }]],
    [
      'moved by a patch',
      (path) => [
        'core/fs.applyPatch',
        {
          input: `*** Begin Patch\n*** Update File: other.json\n*** Move to: new/${path}\n@@\n-{\n+{ \n*** End Patch`,
        },
      ],
    ],
  ])('a package.json that is %s asks if keys change that hooks obey', async (_, callOf) => {
    write('package.json', { name: 'a' })
    write('other.json', { 'lint-staged': { '*': 'sh evil.sh' } })
    const [tool, input] = callOf('package.json')
    const hub = hubHere()
    await hub.call('core/fs.readText', { path: 'package.json' })
    await hub.call('core/fs.readText', { path: 'other.json' })
    const result = await hub.call(tool, input)
    expect([result.error?.code, read('package.json').includes('lint-staged')]).toEqual(['APPROVAL_UNAVAILABLE', false])
    expect(existsSync(join(root, 'new/package.json'))).toBe(false)
  })

  it('other keys of package.json can be changed unasked', async () => {
    write('package.json', { name: 'a', scripts: { prepare: 'husky' } })
    const hub = hubHere()
    await hub.call('core/fs.readText', { path: 'package.json' })
    const edits = [{ oldText: '"a"', newText: '"b", "version": "1.0.0"' }]
    const result = await hub.call('core/fs.edit', { path: 'package.json', edits })
    expect([result.error, read('package.json')]).toEqual([undefined, expect.stringContaining('"version": "1.0.0"')])
    expect(events().map(({ type }) => type)).not.toContain('run-later-changed')
  })

  it('a folder with such a config is neither moved nor copied into place unasked', async () => {
    write('tmp/rules/eslint.config.js', 'evil()')
    hook('npx eslint .')
    for (const tool of ['core/fs.move', 'core/fs.copy']) {
      const result = await hubHere({ run: tool.slice(8) }).call(tool, { from: 'tmp/rules', to: 'packages' })
      expect([tool, result.error?.code, existsSync(join(root, 'packages'))]).toEqual([tool, 'POLICY_DENIED', false])
    }
  })

  it('is in the record of the call, and in the last line of the run', async () => {
    hook('npx eslint .')
    const { hub } = askedHub()
    await hub.call('core/fs.writeText', { path: 'eslint.config.js', text: 'export default []' })
    await hub.call('core/fs.writeText', { path: '.github/workflows/ci.yml', text: 'on: push', mkdirp: true })
    await hub.call('core/fs.writeText', { path: 'src.ts', text: '' })
    await hub.close()
    const changed = events().filter(({ type }) => type === 'run-later-changed')
    expect(changed.map(({ files }) => files)).toEqual([
      [{ path: join(root, 'eslint.config.js'), by: 'eslint (started by a git hook or by settings of the project)' }],
      [{ path: join(root, '.github/workflows/ci.yml'), by: 'a pipeline' }],
    ])
    expect(events().at(-1)).toMatchObject({
      type: 'run-closed',
      runLater: [join(root, 'eslint.config.js'), join(root, '.github/workflows/ci.yml')],
    })
  })
})

it.each(['closed', 'not closed in good order'])(
  'the last line of a run that was %s and is continued lists all files',
  async (how) => {
    const first = hubHere()
    await first.call('core/fs.writeText', { path: '.github/workflows/ci.yml', text: 'on: push', mkdirp: true })
    await first.close()
    if (how !== 'closed') rmSync(join(root, 'runs/run-1/head.json'))
    const next = hubHere()
    await next.call('core/fs.writeText', { path: 'Jenkinsfile', text: '' })
    await next.close()
    expect(events().at(-1)?.runLater).toEqual([join(root, '.github/workflows/ci.yml'), join(root, 'Jenkinsfile')])
  },
)

it('a config that the approver replaced by another file is not in the record', async () => {
  hook('npx eslint .')
  const hub = hubHere({
    approve: () => ({ decision: 'allow', input: { path: '.github/workflows/ci.yml', text: 'on: push', mkdirp: true } }),
  })
  await hub.call('core/fs.writeText', { path: 'eslint.config.js', text: 'evil()' })
  await hub.close()
  expect([existsSync(join(root, 'eslint.config.js')), events().at(-1)?.runLater]).toEqual([
    false,
    [join(root, '.github/workflows/ci.yml')],
  ])
})

describe('a secret', () => {
  it.each(['.env.example', 'example.env', 'notes.txt'])(
    'is not moved or copied to %s, where commands see it',
    async (to) => {
      write('.env', 'TOKEN=abcdefgh12345678\n')
      write('app/.env', 'TOKEN=abcdefgh12345678\n')
      const hub = hubHere()
      const calls: [string, object][] = [
        ['core/fs.move', { from: '.env', to }],
        ['core/fs.copy', { from: '.env', to }],
        ['core/fs.move', { from: 'app/.env', to: `app/${to}` }],
      ]
      for (const [tool, input] of calls) {
        const result = await hub.call(tool, input)
        expect([tool, result.ok, existsSync(join(root, to))]).toEqual([tool, false, false])
      }
      const seen = await hub.call('core/exec.run', { command: `cat ${to} app/${to}; true` })
      expect(JSON.stringify(seen.data)).not.toContain('abcdefgh')
    },
  )

  it('a sample is read by file tools and by commands', async () => {
    write('.env.example', 'TOKEN=put-yours-here\n')
    const hub = hubHere()
    const read = await hub.call('core/fs.readText', { path: '.env.example' })
    const seen = await hub.call('core/exec.run', { command: 'cat .env.example' })
    expect([read.error, JSON.stringify(seen.data)]).toEqual([undefined, expect.stringContaining('put-yours-here')])
  })
})

describe('what git hooks obey, changed by a command', () => {
  it('a script that a hook starts cannot be changed, and is renamed if a command creates it', async () => {
    hook('./scripts/check.sh && ./scripts/more.sh')
    write('scripts/check.sh', 'true')
    const result = await hubHere().call('core/exec.run', {
      command: 'echo evil > scripts/check.sh; echo evil > scripts/more.sh; true',
    })
    expect([read('scripts/check.sh'), existsSync(join(root, 'scripts/more.sh'))]).toEqual(['true', false])
    expect(result.meta.notices?.join()).toContain('scripts/more.sh, which is protected')
  })

  it('configs and keys of package.json are reported with the result, and in the last line of the run', async () => {
    hook('npx eslint .')
    write('package.json', { name: 'a' })
    write('packages/b/package.json', { name: 'b' })
    const hub = hubHere()
    const lint = `'{"lint-staged":{"*":"sh"}}' > packages/b/package.json`
    const result = await hub.call('core/exec.run', {
      command: `echo evil > eslint.config.js; echo ${lint}; echo '{"name":"c"}' > package.json; echo > vite.config.js`,
    })
    const quiet = await hub.call('core/exec.run', { command: 'echo x > src.ts' })
    expect(result.meta.notices).toEqual([
      expect.stringContaining('eslint.config.js, which is run or obeyed later by eslint'),
      expect.stringContaining('packages/b/package.json, which is run or obeyed later by package managers'),
    ])
    expect(quiet.meta.notices).toBeUndefined()
    await hub.close()
    expect(events().at(-1)?.runLater?.toSorted()).toEqual([
      join(root, 'eslint.config.js'),
      join(root, 'packages/b/package.json'),
    ])
  })
})

it('the values of a hidden file are redacted where the history of git has them', async () => {
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words])
  write('.env', 'DB_PASSWORD=correct-horse-battery\nHOST=localhost\n')
  git('add', '-f', '.env')
  git('commit', '-q', '-m', 'first')
  const result = await hubHere().call('core/exec.run', {
    command: 'git log -p; git cat-file -p HEAD:.env; git archive HEAD | base64',
  })
  const shown = JSON.stringify(result)
  expect([shown.includes('correct-horse'), shown.includes('[redacted:secret]'), shown.includes('localhost')]).toEqual([
    ...[false, true, true],
  ])
})
