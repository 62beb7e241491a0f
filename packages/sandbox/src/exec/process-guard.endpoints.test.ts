import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { commandCall } from '../../../../test/support/managed-command.ts'
import { systemClock } from '../../../core/src/context.ts'
import { createProcessGuard, type ProcessGuard, type ProcessGuardOptions } from './process-guard.ts'

let base: string
let root: string
const quick = { timeoutMs: 60_000 }

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'endpoints-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  root = join(base, 'root')
  mkdirSync(root)
})

function open(more: Partial<ProcessGuardOptions> = {}): ProcessGuard {
  const guard = createProcessGuard({
    roots: [{ path: root, mode: 'write' }],
    ...{ readable: [], writable: [], caches: [], passEnv: [], protect: [], hide: [], hideSecrets: true },
    limits: {
      ...{ cpuSeconds: 60, memoryBytes: 4e9, processes: 512, fileBytes: 1e9, openFiles: 1_024 },
      ...{ diskBytes: 1e9, newFiles: 100_000, outputBytes: 1e6 },
    },
    clock: systemClock,
    ledgerFolder: join(base, 'data/commands'),
    ...more,
  })
  onTestFinished(() => guard.close())
  return guard
}

/** A program of the machine that reports its identity to every connection. */
async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => {}).end('the machine'))
  server.listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
}

async function output(guard: ProcessGuard, argv: readonly string[]): Promise<string> {
  const command = await guard.handle(commandCall()).start({ argv: [...argv], ...quick })
  await command.ended()
  return command.output().tail
}

const CONNECT = `
import socket, sys
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(sys.argv[1])
    print('reached', client.recv(100).decode())
except OSError as error: print('refused', error.errno)
`
const connect = (guard: ProcessGuard, path: string) => output(guard, ['/usr/bin/python3', '-c', CONNECT, path])
const OPEN_PIPE = `
import os, sys
try: print('opened', os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK) > 0)
except OSError as error: print('refused', error.errno)
`
const openPipe = (guard: ProcessGuard, path: string) => output(guard, ['/usr/bin/python3', '-c', OPEN_PIPE, path])
const pipeAt = (path: string) => execFileSync('mkfifo', [path])

describe.each(['full', 'namespaces'] as const)('sockets and pipes of the machine at level %s', (level) => {
  it('are hidden in every folder that commands see', async () => {
    const folders = ['root', 'read', 'readable', 'writable'].map((name) => join(base, name))
    for (const folder of folders) {
      mkdirSync(join(folder, 'deep'), { recursive: true })
      await listen(join(folder, 'deep/service.sock'))
      pipeAt(join(folder, 'deep/pipe'))
    }
    const [, read, readable, writable] = folders
    const roots = [
      { path: root, mode: 'write' as const },
      { path: read!, mode: 'read' as const },
    ]
    const guard = open({ roots, readable: [readable!], writable: [writable!], level })
    for (const folder of folders) {
      expect([folder, await connect(guard, join(folder, 'deep/service.sock'))]).toEqual([folder, 'refused 111\n'])
      expect([folder, await openPipe(guard, join(folder, 'deep/pipe'))]).toEqual([folder, 'refused 13\n'])
    }
    expect(guard.level()).toBe(level)
  })

  it('are hidden from the next command if they appear between two, or while one runs', async () => {
    const guard = open({ level })
    expect(await output(guard, ['echo', 'first'])).toBe('first\n')
    await listen(join(root, 'between.sock'))
    pipeAt(join(root, 'between'))
    expect(await connect(guard, join(root, 'between.sock'))).toBe('refused 111\n')
    expect(await openPipe(guard, join(root, 'between'))).toBe('refused 13\n')
    const running = await guard
      .handle(commandCall())
      .start({ argv: ['cat'], stdin: undefined, background: true, ...quick })
    await listen(join(root, 'meanwhile.sock'))
    expect(await connect(guard, join(root, 'meanwhile.sock'))).toBe('refused 111\n')
    await running.kill()
  })
})

describe('sockets and pipes that commands make', () => {
  it('serve other commands, also in a later hub', async () => {
    const guard = open()
    const serve = `
import socket
server = socket.socket(socket.AF_UNIX)
server.bind('own.sock')
server.listen()
print('ready', flush=True)
while True: server.accept()[0].sendall(b'a command')
`
    const server = await guard
      .handle(commandCall())
      .start({ argv: ['/usr/bin/python3', '-c', serve], background: true, ...quick })
    while (!server.output().tail.includes('ready')) await server.changed()
    expect(await connect(guard, join(root, 'own.sock'))).toBe('reached a command\n')
    expect(await output(guard, ['mkfifo', 'own-pipe'])).toBe('')
    await server.kill()
    expect(await openPipe(guard, join(root, 'own-pipe'))).toBe('opened True\n')
    const later = open()
    expect(await openPipe(later, join(root, 'own-pipe'))).toBe('opened True\n')
    expect(await output(later, ['rm', 'own.sock', 'own-pipe'])).toBe('')
  })

  it('are not those that a command has only given a second name', async () => {
    const guard = open()
    const running = await guard.handle(commandCall()).start({ argv: ['cat'], background: true, ...quick })
    pipeAt(join(root, 'pipe'))
    execFileSync('ln', [join(root, 'pipe'), join(root, 'second')])
    expect(await openPipe(guard, join(root, 'second'))).toBe('refused 13\n')
    await running.kill()
    // The pipe stays the owner's if its other name disappears while a command runs.
    const next = await guard.handle(commandCall()).start({ argv: ['cat'], background: true, ...quick })
    rmSync(join(root, 'pipe'))
    expect(await openPipe(guard, join(root, 'second'))).toBe('refused 13\n')
    await next.kill()
  })
})

const PLANT = `
import os
for n in range(300):
    open(f'{n}.pem', 'w').close()
    os.makedirs(f'{n}/.ssh')
`

describe('secrets that a command makes', () => {
  it('block no later command, however many there are, and leave those of the owner hidden', async () => {
    writeFileSync(join(root, '.env'), 'TOKEN=s3cret')
    const plant = ['/usr/bin/python3', '-c', PLANT]
    const guard = open()
    await output(guard, plant)
    for (const each of [guard, open()]) {
      expect(await output(each, ['cat', '.env'])).not.toContain('s3cret')
      expect(await output(each, ['echo', 'still runs'])).toBe('still runs\n')
    }
  })
})
