import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { commandCall, until } from '../../../../test/support/managed-command.ts'
import { outputFile } from '../../../../test/support/output-file.ts'
import { systemClock } from '../../../core/src/context.ts'
import { createProcessGuard, type ProcessGuard, type ProcessGuardOptions } from './process-guard.ts'
import { createStarter, type Starter } from './start/starter.ts'

let root: string
let guard: ProcessGuard
let unconfined: ProcessGuard
let options: ProcessGuardOptions
let onProxy = async () => {}
let onProxyEnd = async () => {}
const connect = { permits: () => undefined, onConnection: () => undefined }
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'process-guard-')))
  await mkdir(join(root, 'below'))
  await writeFile(join(root, '.env'), 'TOKEN=s3cret')
  await writeFile(join(root, 'plain'), 'no program')
  options = {
    roots: [{ path: root, mode: 'write' }],
    readable: [],
    writable: [],
    caches: [],
    passEnv: [],
    protect: [],
    hide: [],
    hideSecrets: true,
    limits: {
      cpuSeconds: 60,
      memoryBytes: 4_000_000_000,
      processes: 512,
      fileBytes: 1_000_000_000,
      openFiles: 1_024,
      diskBytes: 1e9,
      newFiles: 100_000,
      outputBytes: 200_000_000,
    },
    clock: systemClock,
  }
  guard = createProcessGuard(options)
  const proxy = async () => {
    await onProxy()
    return { socket: join(root, 'proxy.sock'), close: () => onProxyEnd() }
  }
  unconfined = createProcessGuard({ ...options, level: 'none', proxy })
})
afterAll(async () => {
  await Promise.all([guard.close(), unconfined.close()])
  await rm(root, { recursive: true, force: true })
})

const run = (call: Parameters<typeof commandCall>[0] = {}) => guard.handle(commandCall(call))
const quick = { timeoutMs: 20_000 }

describe('commands through the guard', () => {
  it('run in the sandbox and in their folder, as words or as a line', async () => {
    expect(await guard.report()).toMatchObject({ level: 'full' })
    const words = await run().start({ argv: ['printf', '%s|', 'a b', '$HOME', "it's"], ...quick })
    await words.ended()
    expect(words.output().stdout).toBe("a b|$HOME|it's|")
    const line = await run().start({ command: 'pwd; echo $GREETING', cwd: 'below', env: { GREETING: 'hi' }, ...quick })
    await line.ended()
    expect(line.output()).toMatchObject({ stdout: `${join(root, 'below')}\nhi\n`, stderr: '' })
    expect(line.state()).toMatchObject({ sandbox: guard.level(), cwd: join(root, 'below'), exitCode: 0 })
  })

  it('take a line that begins with a dash for a command, not for an option', async () => {
    const command = await run().start({ command: '-x; echo after', ...quick })
    await command.ended()
    expect(command.output().stdout).toBe('after\n')
  })

  it('start although a protected folder was removed a moment before', async () => {
    const place = join(root, 'below/.vscode')
    const starter = createStarter()
    const removeFirst = vi.fn<Starter['start']>(async (...given) => {
      await rm(place, { recursive: true, force: true })
      return starter.start(...given)
    })
    const raced = createProcessGuard({ ...options, starter: { ...starter, start: removeFirst } })
    onTestFinished(() => raced.close())
    await mkdir(place)
    const command = await raced.handle(commandCall()).start({ argv: ['ls', 'below'], ...quick })
    await command.ended()
    expect(command.state()).toMatchObject({ exitCode: 0 })
    expect(removeFirst).toHaveBeenCalledTimes(2)
  })

  it('do not start a second time if nothing has changed', async () => {
    const error = new ToolError('SANDBOX_UNAVAILABLE', 'no room')
    const start = vi.fn<Starter['start']>(() => Promise.reject(error))
    const broken = createProcessGuard({ ...options, starter: { start, prepare() {}, close: async () => {} } })
    onTestFinished(() => broken.close())
    await expect(broken.handle(commandCall()).start({ argv: ['ls'], ...quick })).rejects.toBe(error)
    expect(start).toHaveBeenCalledTimes(1)
  })

  it('do not see files that look like secrets, also those made since', async () => {
    const look = async (file: string) => {
      const command = await run().start({ argv: ['cat', file], ...quick })
      await command.ended()
      return command.output().tail
    }
    expect(await look('.env')).not.toContain('s3cret')
    await writeFile(join(root, 'below/.env.local'), 'TOKEN=s3cret')
    await look('plain')
    // Looked for again after each command, while nobody waits.
    while ((await guard.describe()).hidden.every((path) => !path.endsWith('.env.local'))) await look('plain')
    expect(await look('below/.env.local')).not.toContain('s3cret')
  })

  it('are judged by the very text that policy saw', async () => {
    const seen: string[] = []
    const permits = (value: string) => {
      seen.push(value)
      throw new ToolError('POLICY_DENIED', 'Not this one.')
    }
    const argv = ['touch', 'made it']
    await expect(run({ permits }).start({ argv, ...quick })).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await expect(run({ permits }).start({ command: 'touch made', ...quick })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(seen).toEqual([`touch 'made it'`, 'touch made'])
    await expect(readFile(join(root, 'made it'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('run what was judged, though the tool changes its request meanwhile', async () => {
    const argv = ['echo', 'judged']
    const command = await run({
      permits: () => {
        argv[1] = 'changed'
      },
    }).start({ argv, ...quick })
    await command.ended()
    expect(command.output().stdout).toBe('judged\n')
  })

  it.each([
    ['NUL', { argv: ['ls', '\0'] }, 'INPUT_SCHEMA_INVALID'],
    ['a variable that loads code', { argv: ['ls'], env: { LD_PRELOAD: 'x' } }, 'INPUT_SCHEMA_INVALID'],
    ['a folder outside', { argv: ['ls'], cwd: '/' }, 'PATH_OUTSIDE_SANDBOX'],
    ['a folder that is none', { argv: ['ls'], cwd: 'plain' }, 'NOT_FOUND'],
    ['a missing program', { argv: ['no-such-program'] }, 'NOT_FOUND'],
    ['what is not executable', { argv: ['./plain'] }, 'EXEC_FAILED'],
  ])('refuses %s', async (_, request, code) => {
    await expect(run().start({ ...request, ...quick })).rejects.toMatchObject({ code })
  })

  it('do not start where their folder has gone meanwhile', async () => {
    await mkdir(join(root, 'gone'))
    onProxy = () => rm(join(root, 'gone'), { recursive: true })
    const starting = unconfined.handle(commandCall({ connect })).start({ argv: ['ls'], cwd: 'gone', ...quick })
    await expect(starting).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('the life of commands', () => {
  it('ends with the call, before the start, during it and after the exit', async () => {
    const before = run({ signal: () => AbortSignal.abort() })
    await expect(before.start({ argv: ['ls'], ...quick })).rejects.toMatchObject({ code: 'ABORTED' })

    const during = new AbortController()
    const starting = run({ signal: () => during.signal, permits: () => setImmediate(() => during.abort()) })
    const started = starting.start({ argv: ['sleep', '30'], ...quick }).then(
      (command) => command.ended(),
      (error) => error.code,
    )
    expect([true, 'ABORTED']).toContain(await started)

    const after = new AbortController()
    const done = await run({ signal: () => after.signal }).start({ argv: ['true'], ...quick })
    await done.ended()
    after.abort()
    expect(done.state()).toMatchObject({ status: 'exited', exitCode: 0 })
  })

  it('is the run’s own in the background: found, written to, ended with the run', async () => {
    const told: string[] = []
    const abort = new AbortController()
    const call = {
      run: 'run-a',
      signal: () => abort.signal,
      onBackground: async (id: string) => void told.push(`began ${id}`),
      onEnded: (id: string) => void told.push(`ended ${id}`),
    }
    const commands = run(call)
    const { id } = await commands.start({ argv: ['cat'], background: true, ...quick })
    expect(told).toEqual([`began ${id}`])
    abort.abort()
    expect(run({ run: 'run-b' }).find(id)).toBeUndefined()
    expect(run({ run: 'run-b' }).list()).toEqual([])
    const found = run({ run: 'run-a' }).find(id)!
    await found.write('hello\n')
    await until(found, () => found.output().stdout !== '')
    expect(found.output().stdout).toBe('hello\n')
    expect(commands.list()).toMatchObject([{ id, status: 'running', isBackground: true }])
    await guard.endRun('run-a')
    expect(found.state().status).toBe('exited')
    expect(commands.list()).toEqual([])
    expect(told).toEqual([`began ${id}`, `ended ${id}`])
  })

  it('ends for what a call has left behind, with its files', async () => {
    const path = join(tmpdir(), `process-guard-${process.pid}.out`)
    const commands = run({ callId: 'left', keepOutput: () => outputFile(path) })
    const command = await commands.start({ command: 'seq 1 20000; sleep 30', ...quick })
    await until(command, () => command.output().isCut)
    await guard.endCall('left')
    expect(command.state().status).toBe('exited')
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is over when the guard is closed, also for what is being started', async () => {
    const closing = createProcessGuard(options)
    const commands = closing.handle(commandCall())
    const running = await commands.start({ argv: ['sleep', '30'], background: true, ...quick })
    const starting = commands.start({ argv: ['sleep', '30'], ...quick })
    const [, outcome] = await Promise.all([closing.close(), starting.catch((error) => error)])
    expect(outcome).toMatchObject({ code: 'ABORTED' })
    expect(running.state().status).toBe('exited')
    await expect(commands.start({ argv: ['true'], ...quick })).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('is bounded by a rule’s own time', async () => {
    const command = await run({ maxMs: 50 }).start({ argv: ['sleep', '30'], ...quick })
    await command.ended()
    expect(command.state().timedOut).toBe(true)
  })

  it('has a way to the network of its own, which ends with it, also when it could not start', async () => {
    const events: string[] = []
    onProxy = async () => void events.push('open')
    onProxyEnd = async () => void events.push('close')
    const command = await unconfined.handle(commandCall({ connect })).start({ argv: ['true'], ...quick })
    await command.ended()
    expect(events).toEqual(['open', 'close'])
    const refused = unconfined.handle(commandCall({ connect })).start({ argv: ['no-such-program'], ...quick })
    await expect(refused).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(events).toEqual(['open', 'close', 'open', 'close'])
    await (await unconfined.handle(commandCall()).start({ argv: ['true'], ...quick })).ended()
    expect(events).toHaveLength(4)
  })

  it('has a terminal where one is asked for', async () => {
    const command = await run().start({
      command: 'test -t 0 && test -t 1 && read -p "Name? " x; echo "<$x>"',
      pty: true,
      ...quick,
    })
    await until(command, () => command.output().stdout.includes('Name? '))
    await until(command, () => command.state().isWaiting)
    await command.write('Anna\n')
    await command.ended()
    expect(command.output().stdout).toContain('<Anna>')
  })
})
