import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { bundleModule } from './support/run-module.ts'

/** Who runs the hub, and whose the workspace is; a hub that is root runs commands as that user. */
interface Users {
  readonly hub: number
  readonly owner: number
}

const us = process.getuid?.() ?? -1
const isRoot = us === 0
const NOBODY = 65_534
const USERS: ReadonlyArray<readonly [string, Users]> = isRoot
  ? [
      ['root', { hub: 0, owner: 0 }],
      ['an unprivileged user', { hub: NOBODY, owner: NOBODY }],
      ['root, in the workspace of an unprivileged user', { hub: 0, owner: NOBODY }],
    ]
  : [['an unprivileged user', { hub: us, owner: us }]]

let module: string
let base: string
let root: string

beforeAll(async () => {
  module = await bundleModule('test/support/hub-process.ts', {
    beside: { 'sandbox/exec/spawner/spawner-main': 'packages/sandbox/src/exec/spawner/spawner-main.ts' },
  })
  // Others may run it, too.
  chmodSync(dirname(module), 0o755)
})

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'protected-users-')))
  chmodSync(base, 0o755)
  root = join(base, 'ws')
  mkdirSync(root)
  onTestFinished(() => {
    if (!isRoot) for (const name of readdirSync(root)) if (!name.startsWith('.')) chmodSync(join(root, name), 0o700)
    rmSync(base, { recursive: true, force: true })
  })
})

function write(path: string, content = 'mine'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** A hub of this user in another process; `exec` resolves with the result of a command. */
function hubOf({ hub, owner }: Users, more: object = {}) {
  for (const folder of ['data', 'runs', 'tmp']) {
    mkdirSync(join(base, folder), { recursive: true })
    giveTo(join(base, folder), hub)
  }
  giveTo(root, owner)
  const options = { sandbox: { root }, runs: join(base, 'runs'), data: join(base, 'data'), approveAll: true, ...more }
  const policy = [{ allow: 'exec' }, { allow: 'danger:destructive' }]
  const child: ChildProcess = spawn(process.execPath, [module, JSON.stringify({ ...options, policy })], {
    ...{ stdio: ['pipe', 'pipe', 'ignore'], uid: hub, gid: hub, cwd: base },
    env: { PATH: process.env.PATH, HOME: base, TMPDIR: join(base, 'tmp') },
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  const answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return {
    child,
    async exec(command: string, input: object = {}) {
      child.stdin!.write(`${JSON.stringify({ tool: 'core/exec.run', input: { command, ...input } })}\n`)
      return JSON.parse((await answers.next()).value)
    },
  }
}

function giveTo(folder: string, user: number): void {
  if (!isRoot) return
  lchownSync(folder, user, user)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) giveTo(path, user)
    else lchownSync(path, user, user)
  }
}

describe.each(USERS)('a command of a hub that runs as %s', (_, users) => {
  it('neither reads nor changes what is in a folder that an earlier command has closed', async () => {
    write('d/e/.env', 'planted')
    write('d/e/.vscode/tasks.json')
    write('d/.git/hooks/pre-commit')
    const { exec } = hubOf(users)
    expect(await exec('chmod 0 d/e; chmod 0 d')).toMatchObject({ ok: true })
    const line =
      'chmod 700 d; chmod 700 d/e; cat d/e/.env; echo evil > d/e/.vscode/tasks.json; echo evil > d/.git/hooks/x'
    const next = await exec(`${line}; true`)
    expect(next).toMatchObject({ ok: true, data: { stdout: '', stderr: expect.stringContaining('Read-only') } })
    expect([read('d/e/.vscode/tasks.json'), readdirSync(join(root, 'd/.git/hooks'))]).toEqual(['mine', ['pre-commit']])
  })

  it('keeps nothing that it made in folders it closed or behind a name of 255 bytes', async () => {
    const long = `${'x'.repeat(255 - '.code-workspace'.length)}.code-workspace`
    const { exec } = hubOf(users)
    const closed = 'mkdir -p a/b a/.vscode; echo evil > a/b/.envrc; chmod 0 a/b; chmod 0 a/.vscode; chmod 0 a'
    const made = await exec(`${closed}; echo evil > ${long}; mkdir c; echo evil > c/.mcp.json; chmod 500 c`)
    expect(made).toMatchObject({ ok: true })
    chmodSync(join(root, 'a'), 0o700)
    const left = ['a/b/.envrc', 'a/.vscode', long, 'c/.mcp.json'].filter((path) => existsSync(join(root, path)))
    expect([left, made.meta.notices.length]).toEqual([[], 4])
    expect(await exec('true')).toMatchObject({ ok: true })
  })

  it('runs to its end while it closes a folder again and again', async () => {
    write('d/.env', 'planted')
    const { exec } = hubOf(users)
    // The sandbox of the next command is made meanwhile.
    const result = await exec('for i in $(seq 300); do chmod 0 d; done; echo whole')
    expect(result).toMatchObject({ ok: true, data: { stdout: 'whole\n' } })
    expect(await exec('true')).toMatchObject({ ok: true })
  })
})

describe.runIf(isRoot)('in folders of other users, a command of an unprivileged user', () => {
  const users = { hub: NOBODY, owner: NOBODY }

  function foreign(folder: string, mode: number): void {
    chownSync(join(root, folder), 0, 0)
    chmodSync(join(root, folder), mode)
  }

  it('sees nothing where the hub may enter but not list, and makes nothing there', async () => {
    for (const folder of ['o', 'p', 'q']) write(`${folder}/.env`, 'planted')
    const { exec } = hubOf(users)
    foreign('o', 0o711)
    foreign('p', 0o733)
    foreign('q', 0o700)
    const result = await exec('cat o/.env p/.env q/.env; mkdir p/.vscode; echo evil > p/.envrc; true')
    expect(result).toMatchObject({ ok: true, data: { stdout: '' } })
    expect(readdirSync(join(root, 'p'))).toEqual(['.env'])
  })

  it('blocks commands, and hubs that start later, with what cannot be renamed', async () => {
    mkdirSync(join(root, 's'))
    const first = hubOf(users)
    foreign('s', 0o1777)
    writeFileSync(join(root, 's/x'), '')
    chmodSync(join(root, 's/x'), 0o666)
    expect(await first.exec('ln s/x s/.envrc')).toMatchObject({ ok: true })
    const refused = { ok: false, error: { code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('s/.envrc') } }
    expect(await first.exec('true')).toMatchObject(refused)
    first.child.kill('SIGKILL')
    for (const turn of ['second', 'third']) {
      const next = hubOf(users)
      foreign('s', 0o1777)
      chownSync(join(root, 's/x'), 0, 0)
      expect([turn, await next.exec('true')]).toMatchObject([turn, refused])
      next.child.kill('SIGKILL')
    }
    rmSync(join(root, 's/.envrc'))
    expect(await hubOf(users).exec('true')).toMatchObject({ ok: true })
  })
})
