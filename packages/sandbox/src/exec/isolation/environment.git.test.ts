import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { runInSandbox } from '../probe/probe-sandbox.ts'
import { buildSandbox } from './build-sandbox.ts'
import { commandEnvironment, GIT_SHIM, gitIdentity, gitSettings } from './environment.ts'

/** A repository whose settings name a program for everything; it notes by which it was run. */
const HOSTILE = `
set -e
git=/usr/bin/git
for name in fsmonitor external command textconv pager hook ssh gpg credential askpass editor; do
  printf '#!/bin/sh\\necho %s >> "%s/ran"\\ncat\\n' "$name" "$PWD" > "$PWD/$name.sh"
  chmod +x "$name.sh"
done
$git init -q .
$git config user.name a; $git config user.email a@b
printf '*.bin diff=d\\n' > .gitattributes
echo a > f; echo b > g.bin
$git add -A; $git commit -qm 1
mkdir -p .git/hooks
for hook in pre-commit post-commit post-index-change post-checkout reference-transaction; do cp hook.sh ".git/hooks/$hook"; done
$git config core.fsmonitor "$PWD/fsmonitor.sh"
$git config core.pager "$PWD/pager.sh"
$git config pager.log "$PWD/pager.sh"
$git config core.sshCommand "$PWD/ssh.sh"
$git config core.askPass "$PWD/askpass.sh"
$git config core.editor "$PWD/editor.sh"
$git config credential.helper "$PWD/credential.sh"
$git config log.showSignature true
$git config gpg.program "$PWD/gpg.sh"
$git config diff.d.textconv "$PWD/textconv.sh"
$git config diff.external "$PWD/external.sh"
echo c >> f; echo d >> g.bin
rm -f ran
`

const READS =
  'git status; git diff; git -C . -c a.b=c diff HEAD; git log -p; git show; git blame g.bin; git --no-pager log -1'

describe('git in a sandbox', () => {
  it('runs no program that a repository names', async () => {
    const { ran, stdout } = await inRepository(READS, commandEnvironment())
    expect(ran).toEqual([])
    expect(stdout).toContain('+c\n')
  })

  it('runs no hook and no editor when it commits, and asks nobody', async () => {
    const { ran } = await inRepository(
      'git commit -qam 2; git commit --amend; git ls-remote ssh://h/x',
      commandEnvironment(),
    )
    expect(ran).toEqual([])
  })

  it('would run them otherwise', async () => {
    const { ran } = await inRepository(`${READS}; git commit -qam 2`, { PATH: '/usr/bin:/bin', HOME: '/run/home' })
    expect(ran).toEqual(expect.arrayContaining(['fsmonitor', 'external', 'textconv', 'hook']))
  })

  it('refuses transports that are programs', async () => {
    const { stderr } = await inRepository('git ls-remote "ext::sh -c true"', commandEnvironment())
    expect(stderr).toMatch(/transport 'ext' not allowed/)
  })

  it('works in a repository of another user when told that it is safe', () => {
    const environment = commandEnvironment({ git: { safeDirectories: ['/w'] } })
    const last = Number(environment.GIT_CONFIG_COUNT) - 1
    expect([environment[`GIT_CONFIG_KEY_${last}`], environment[`GIT_CONFIG_VALUE_${last}`]]).toEqual([
      'safe.directory',
      '/w',
    ])
  })
})

it('gives git exactly these settings', () => {
  const { GIT_CONFIG_COUNT: count, ...environment } = gitSettings(['/a', '/b'])
  const numbered = Array.from({ length: Number(count) }, (_, at) => [
    environment[`GIT_CONFIG_KEY_${at}`],
    environment[`GIT_CONFIG_VALUE_${at}`],
  ])
  expect(numbered).toEqual([
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.pager', 'cat'],
    ['core.sshCommand', 'ssh'],
    ['credential.helper', ''],
    ['interactive.diffFilter', 'cat'],
    ['protocol.ext.allow', 'never'],
    ['log.showSignature', 'false'],
    ['commit.gpgSign', 'false'],
    ['tag.gpgSign', 'false'],
    ['gpg.program', 'gpg'],
    ['gpg.ssh.program', 'ssh-keygen'],
    ['gpg.x509.program', 'gpgsm'],
    ['gc.autoDetach', 'false'],
    ['maintenance.autoDetach', 'false'],
    ['safe.directory', '/a'],
    ['safe.directory', '/b'],
  ])
  const others = Object.entries(environment).filter(([name]) => !/_(KEY|VALUE)_\d+$/.test(name))
  expect(Object.fromEntries(others)).toEqual({
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_CONFIG_NOSYSTEM: '1',
  })
})

describe('the shim', () => {
  it.each([
    [
      ['diff', 'a b', '--', '*'],
      ['diff', '--no-ext-diff', '--no-textconv', 'a b', '--', '*'],
    ],
    [
      ['-C', 'log', '--no-pager', 'show'],
      ['-C', 'log', '--no-pager', 'show', '--no-ext-diff', '--no-textconv'],
    ],
    [
      ['status', 'diff'],
      ['status', 'diff'],
    ],
    [[], []],
  ])('makes %j into %j', async (words, expected) => {
    // The words as a program gets them, instead of git.
    const shim = GIT_SHIM.replace('exec "$git" "$@"', 'exec printf "%s\\n" "$@"')
    const folder = await folderWith({ shim })
    const none = buildSandbox(sandboxSpec(folder, { level: 'none' }))
    const { stdout } = await runInSandbox(none, ['/bin/sh', join(folder, 'shim'), ...words])
    expect(stdout).toBe(`${expected.join('\n')}\n`)
  })
})

async function inRepository(script: string, environment: Record<string, string>) {
  const workspace = await folderWith()
  const plain = buildSandbox(sandboxSpec(workspace, { environment: { PATH: '/usr/bin:/bin', HOME: '/run/home' } }))
  expect(await runInSandbox(plain, ['/bin/sh', '-c', HOSTILE], { cwd: workspace })).toMatchObject({ exitCode: 0 })
  const sandbox = buildSandbox(sandboxSpec(workspace, { environment }))
  const ended = await runInSandbox(sandbox, ['/bin/sh', '-c', script], { cwd: workspace })
  const notes = join(workspace, 'ran')
  return { ...ended, ran: existsSync(notes) ? (await readFile(notes, 'utf8')).split('\n').filter(Boolean) : [] }
}

const user = (name: string, email: string) => `[user]\n\tname = "${name}"\n\temail = "${email}"\n`
const identity = (name: string, email: string) => ({
  ...{ GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name },
  ...{ GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email },
})

/** The identity in a repository, where the user of the hub has these settings. */
async function identityOf({ global = '', repository = '' }: { global?: string; repository?: string }) {
  const folder = await folderWith({ gitconfig: global, 'w/.git/config': repository })
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(folder, 'gitconfig'))
  onTestFinished(() => void vi.unstubAllEnvs())
  return { own: await gitIdentity(undefined), inRoot: await gitIdentity(join(folder, 'w')) }
}

describe('who commits', () => {
  it('is the user of the hub, or who the repository says', async () => {
    const global = user('Ada', 'ada@example.org')
    expect((await identityOf({ global })).inRoot).toEqual(identity('Ada', 'ada@example.org'))
    const both = await identityOf({ global, repository: user('Bo', 'bo@example.org') })
    expect(both).toEqual({ own: identity('Ada', 'ada@example.org'), inRoot: identity('Bo', 'bo@example.org') })
  })

  it('is taken together from both', async () => {
    const { inRoot } = await identityOf({ global: user('Ada', 'ada@example.org'), repository: '[user]\n\tname = Bo\n' })
    expect(inRoot).toEqual(identity('Bo', 'ada@example.org'))
    const nameOnly = await identityOf({ global: '[user]\n\tname = Ada\n\tsigningkey = k\n' })
    expect(nameOnly.own).toEqual({ GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada' })
  })

  it('is nobody where nothing says it', async () => {
    expect(await identityOf({})).toEqual({ own: {}, inRoot: {} })
    expect(await gitIdentity('/no/such/folder')).toEqual({})
  })

  it('is nobody whose name is more than a name', async () => {
    const nameOf = async (name: string) => (await identityOf({ global: user(name, '') })).own.GIT_AUTHOR_NAME
    expect(await nameOf('x'.repeat(200))).toBe('x'.repeat(200))
    for (const name of ['x'.repeat(201), '<Ada', 'Ada>', 'A\\tda', '\\tAda', 'Ada\\t']) {
      expect(await nameOf(name), name).toBeUndefined()
    }
  })
})
