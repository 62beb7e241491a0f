import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { workspace } from '../../../../../test/support/made-sandboxes.ts'
import type { ProgramRequest, RunningProgram } from '../../../../core/src/commands.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { ProgramSettings } from './program-request.ts'
import { startProgram } from './start-program.ts'

const machine: ProgramSettings = {
  protect: [],
  limits: {},
  isSandboxRequired: true,
  hidden: [],
  clock: systemClock,
  openProxy: () => Promise.reject(new Error('this program has no hosts')),
}

/** Runs all through the file, so that the process that starts programs is there for all tests. */
let warm: RunningProgram
beforeAll(async () => {
  warm = await startProgram({ argv: ['cat'] }, machine)
})
afterAll(() => warm.stop({ graceMs: 0 }))

async function start(request: ProgramRequest, known: Partial<ProgramSettings> = {}): Promise<RunningProgram> {
  const program = await startProgram(request, { ...machine, ...known })
  onTestFinished(() => program.stop({ graceMs: 0 }))
  return program
}

async function outputOf(request: ProgramRequest, known?: Partial<ProgramSettings>): Promise<string> {
  const program = await start(request, known)
  const [out, errors] = await Promise.all([text(program.stdout), text(program.stderr)])
  return out + errors
}

const sh = (line: string, ...words: string[]) => ['sh', '-c', line, 'sh', ...words]

describe('a sandboxed program', () => {
  it('is talked to over plain pipes, and stopped', async () => {
    const program = await start({ argv: sh('readlink /proc/self/fd/0 /proc/self/fd/2; exec cat'), access: {} })
    const out = text(program.stdout)
    program.stdin.write('hello\n')
    await program.stop({ graceMs: 60_000 })
    expect(await out).toMatch(/^pipe:\[\d+\]\npipe:\[\d+\]\nhello\n$/)
    expect(program.sandbox).not.toBe('none')
    expect(await program.ended).toEqual({ code: 0, signal: null })
  })

  it('sees the system and what it was granted, writes where it may, and nowhere else', async () => {
    const folder = await workspace()
    const [read, write, other] = ['read', 'write', 'other'].map((name) => join(folder, name))
    for (const path of [read!, write!, other!]) {
      await mkdir(path)
      await writeFile(join(path, 'file'), 'granted')
    }
    const line = `cat "$1/file" "$2/file"; echo new >"$2/made" && echo wrote
      (echo new >"$1/made") 2>/dev/null || echo kept
      (echo new >/usr/made) 2>/dev/null || echo kept-system
      cat "$3/file" 2>/dev/null || echo not-seen; ls -A "$4" 2>/dev/null | head -1; echo "$HOME"; pwd`
    const out = await outputOf({
      argv: sh(line, read!, write!, other!, homedir()),
      access: { readable: [read!], writable: [write!] },
    })
    expect(out).toBe(`grantedgrantedwrote\nkept\nkept-system\nnot-seen\n/run/home\n${write}\n`)
    expect(await readFile(join(write!, 'made'), 'utf8')).toBe('new\n')
  })

  it('never sees what the hub keeps, also where that is made later', async () => {
    const folder = await workspace()
    const [kept, later] = [join(folder, 'kept'), join(folder, 'later')]
    await mkdir(kept)
    await writeFile(join(kept, 'record'), 'record')
    const argv = sh(
      'read x; ls "$1/kept" "$1/later"; cat "$1/kept/record" "$1/later/record"; echo x >"$1/later/y"',
      folder,
    )
    const program = await start({ argv, access: { writable: [folder] } }, { hidden: [kept, later] })
    await writeFile(join(later, 'record'), 'record')
    const out = text(program.stdout)
    program.stdin.end('go\n')
    expect(await out).toBe(`${kept}:\n\n${later}:\n`)
    const denied = { code: 'PATH_DENIED', message: expect.stringContaining('record') }
    const inside = { argv: ['true'], access: { readable: [join(kept, 'record')] } }
    await expect(start(inside, { hidden: [kept] })).rejects.toMatchObject(denied)
  })

  it('gets its own variables inside, and none of the hub', async () => {
    const out = await outputOf({ argv: ['env'], env: { TOKEN: 'mine', LD_PRELOAD: '' }, access: {} })
    expect(out).toContain('TOKEN=mine\n')
    expect(out).not.toContain(`HOME=${homedir()}\n`)
    expect(out).not.toMatch(/VITEST/)
  })

  it('has the limits of a command, but lives for ever', async () => {
    const argv = sh('ulimit -t; ulimit -n; ulimit -f')
    expect(await outputOf({ argv, access: {} }, { limits: { openFiles: 99, cpuMs: 1_000, fileBytes: 512_000 } })).toBe(
      'unlimited\n99\n1000\n',
    )
  })

  it('reaches no network', async () => {
    const server = createServer((_, response) => response.end('hi')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    const { port } = await new Promise<AddressInfo>((told) =>
      server.once('listening', () => told(server.address() as AddressInfo)),
    )
    const script = `fetch('http://127.0.0.1:${port}').then(() => console.log('reached'), () => console.log('no way'))`
    expect(await outputOf({ argv: ['node', '-e', script], access: {} })).toBe('no way\n')
  })

  it('reaches the hosts it was given by the proxy, which is closed with it', async () => {
    const folder = await workspace()
    const socket = join(folder, 'proxy.sock')
    const server = createServer((request, response) => response.end(`asked for ${request.url}`)).listen(socket)
    await new Promise((told) => server.once('listening', told))
    let asked: unknown
    const closed = new Promise<void>((told) => void server.once('close', told))
    const openProxy: ProgramSettings['openProxy'] = async (hosts, settings) => {
      asked = { hosts, limits: settings?.limits }
      const close = async () => void server.close()
      return { socket, closed, close }
    }
    const script = `const { hostname, port } = new URL(process.env.HTTP_PROXY)
      require('http').get({ hostname, port, path: 'http://api.example.org/' }, (answer) => answer.pipe(process.stdout))`
    const out = await outputOf({ argv: ['node', '-e', script], access: { hosts: ['api.example.org'] } }, { openProxy })
    expect(out).toBe('asked for http://api.example.org/')
    expect(asked).toEqual({ hosts: ['api.example.org'], limits: { maxBytes: Number.MAX_SAFE_INTEGER } })
    await closed
  })
})

describe('the program itself', () => {
  it('is seen with the packages around it, by the name it was called', async () => {
    const folder = await workspace()
    const [server, helper] = ['server', 'helper'].map((name) => join(folder, 'node_modules', name))
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true })
    await mkdir(server!)
    await mkdir(helper!)
    await writeFile(join(helper!, 'index.js'), `module.exports = 'helped'`)
    const script = `#!/usr/bin/env node\nconsole.log(require('helper'), require('fs').existsSync(${JSON.stringify(join(folder, 'own'))}))`
    await writeFile(join(server!, 'cli.js'), script, { mode: 0o755 })
    await writeFile(join(folder, 'own'), 'not its own')
    await symlink('../server/cli.js', join(folder, 'node_modules/.bin/server'))
    expect(await outputOf({ argv: [join(folder, 'node_modules/.bin/server')], access: {} })).toBe('helped false\n')
  })

  it('is seen alone where no package is around it, also by a link', async () => {
    const folder = await workspace()
    await writeFile(join(folder, 'real'), `#!/bin/sh\nls -A ${folder}\n`, { mode: 0o755 })
    await mkdir(join(folder, 'bin'))
    await symlink('../real', join(folder, 'bin/tool'))
    const PATH = `${join(folder, 'bin')}:/usr/bin`
    expect(await outputOf({ argv: ['tool'], env: { PATH }, access: {} })).toBe('real\n')
    expect(await outputOf({ argv: [join(folder, 'bin/tool')], access: {} })).toBe('real\n')
  })
})

describe('a sandbox that is not available', () => {
  it('is an error with a fix, or skipped if the owner accepts that', async () => {
    const refused = { code: 'SANDBOX_UNAVAILABLE', fix: { hint: expect.stringContaining('bubblewrap') } }
    await expect(start({ argv: ['true'], access: {} }, { level: 'none' })).rejects.toMatchObject(refused)
    const program = await start({ argv: ['true'], access: {} }, { level: 'none', isSandboxRequired: false })
    expect(program.sandbox).toBe('none')
  })

  it('is an error if it names a missing path, or a folder that it does not show', async () => {
    const folder = await workspace()
    const missing = { code: 'NOT_FOUND', message: expect.stringContaining('missing') }
    await expect(start({ argv: ['true'], access: { readable: [join(folder, 'missing')] } })).rejects.toMatchObject(
      missing,
    )
    const outside = { code: 'PATH_OUTSIDE_SANDBOX', message: expect.stringContaining(folder) }
    await expect(start({ argv: ['true'], cwd: folder, access: {} })).rejects.toMatchObject(outside)
  })

  it.runIf(process.geteuid?.() === 0)('is refused where its user cannot enter what it names', async () => {
    const folder = await workspace()
    const [closed, write] = [join(folder, 'closed'), join(folder, 'write')]
    await mkdir(join(closed, 'inside'), { recursive: true })
    await mkdir(write)
    await chmod(folder, 0o755)
    await chmod(closed, 0o700)
    await chown(write, 65534, 65534)
    const access = { readable: [join(closed, 'inside')], writable: [write] }
    const denied = { code: 'PATH_DENIED', message: expect.stringContaining('out of reach for user 65534') }
    await expect(start({ argv: ['true'], access })).rejects.toMatchObject(denied)
    expect(await outputOf({ argv: ['id', '-u'], access: { writable: [write] } })).toBe('65534\n')
  })
})

describe('protected places in folders that a sandboxed program may change', () => {
  it('are read-only in it, and what it makes there is renamed while it runs', async () => {
    const folder = await workspace()
    const paths = ['.git/config', '.git/HEAD', '.vscode/tasks.json', 'lib/code.mjs'].map((path) => join(folder, path))
    for (const path of paths) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, 'mine')
    }
    const changes = `for f in .git/config .vscode/tasks.json lib/code.mjs .git/hooks/pre-commit; do echo evil > $f; done`
    const line = `${changes}; echo evil > .envrc; mkdir -p a/.claude; echo made > ordinary; echo done; exec cat`
    const known = { protect: [join(folder, 'lib/code.mjs')], ledgerFolder: join(await workspace(), 'data/commands') }
    const program = await start({ argv: sh(line), cwd: folder, access: { writable: [folder] } }, known)
    await once(program.stdout, 'data')
    const left = () => ['.envrc', 'a/.claude', '.git/hooks/pre-commit'].filter((path) => existsSync(join(folder, path)))
    await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 100_000 })
    expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(paths.map(() => 'mine'))
    expect(await readFile(join(folder, 'ordinary'), 'utf8')).toBe('made\n')
    expect(await readdir(known.ledgerFolder)).toHaveLength(1)
    await program.stop({ graceMs: 0 })
    await vi.waitFor(async () => expect(await readdir(known.ledgerFolder)).toEqual([]), { timeout: 100_000 })
  })

  it('end a program that makes them again and again', async () => {
    const folder = await workspace()
    const program = await start({
      argv: sh('while :; do : > .envrc; done'),
      cwd: folder,
      access: { writable: [folder] },
    })
    await program.ended
    await vi.waitFor(() => expect(existsSync(join(folder, '.envrc'))).toBe(false), { timeout: 100_000 })
  })
})
