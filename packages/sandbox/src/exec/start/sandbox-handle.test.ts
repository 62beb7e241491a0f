import { describe, expect, it } from 'vitest'
import { noSandbox } from '../../../../../test/support/made-sandboxes.ts'
import type { CommandCgroup } from '../host/cgroup.ts'
import type { HubMessage } from './protocol.ts'
import { SandboxHandle, type SandboxLink } from './sandbox-handle.ts'
import type { SandboxListener } from './spawner-link.ts'

/** A link that only notes what is said; the test speaks for the spawner. */
function linkOf() {
  const said: HubMessage[] = []
  const state = { held: 0, forgotten: [] as number[] }
  let listener: SandboxListener | undefined
  const link: SandboxLink = {
    listen(given: SandboxListener) {
      listener = given
      return 7
    },
    release: (id: number) => void state.forgotten.push(id),
    send: (message: HubMessage) => void said.push(message),
    expect: () => undefined,
    hold() {
      state.held += 1
      return () => {
        state.held -= 1
      }
    },
  }
  return { link, said, state, spawner: () => listener! }
}

const SANDBOX = {
  ...noSandbox(),
  seccomp: { fd: 3, program: Buffer.from('filter') },
  swappable: ['/s'],
  closed: ['/c'],
}
const types = (said: readonly HubMessage[]) => said.map(({ type }) => type)

describe('a sandbox from its beginning on', () => {
  it('sends everything that it consists of, in order', () => {
    const { link, said, state } = linkOf()
    const sandbox = new SandboxHandle(link, { ...SANDBOX, helper: ['x'] })
    sandbox.open(SANDBOX, { isWarm: true })
    void sandbox.run({ script: 'script', helper: 'helper', startMs: 9 })
    void sandbox.stop(5)
    expect(said).toEqual([
      {
        ...{
          type: 'prewarm',
          id: 7,
          level: 'none',
          env: SANDBOX.env,
          hasHelper: true,
          isReusable: false,
          joinFiles: [],
        },
        seccomp: { fd: 3, program: Buffer.from('filter').toString('base64') },
      },
      {
        ...{ type: 'open', id: 7, file: SANDBOX.file, args: SANDBOX.args, isWarm: true },
        ...{ swappable: ['/s'], closed: ['/c'] },
      },
      { type: 'run', id: 7, script: 'script', helper: 'helper', startMs: 9 },
      { type: 'stop', id: 7, graceMs: 5 },
    ])
    expect([state.held, sandbox.hasFailed, sandbox.pid]).toEqual([2, false, undefined])
  })

  it('sends nothing before it has its cgroup, and starts without one if none can be created', async () => {
    for (const [joinFiles, expected] of [
      [async () => ['/g/tasks'], ['/g/tasks']],
      [async () => Promise.reject(new Error('read-only')), []],
    ] as const) {
      const { link, said, spawner } = linkOf()
      let removed = 0
      const cgroup: CommandCgroup = {
        joinFiles,
        async remove() {
          removed += 1
        },
      }
      const sandbox = new SandboxHandle(link, SANDBOX, cgroup)
      sandbox.open(SANDBOX, { isWarm: false })
      expect(said).toEqual([])
      await new Promise(setImmediate)
      expect([types(said), said[0]]).toMatchObject([['prewarm', 'open'], { joinFiles: expected, hasHelper: false }])
      spawner().onMessage({ type: 'ended', id: 7, exitCode: 0 })
      await sandbox.ended
      expect(removed).toBe(1)
    }
  })

  it('ends with its command, and releases its spawner', async () => {
    const { link, state, spawner } = linkOf()
    const sandbox = new SandboxHandle(link, SANDBOX)
    void sandbox.run({ script: 'x' })
    const stopping = sandbox.stop()
    spawner().onMessage({ type: 'running', id: 7, pid: 99 })
    expect(sandbox.pid).toBe(99)
    spawner().onMessage({ type: 'ended', id: 7, signal: 'SIGTERM', uncovered: '/u' })
    await stopping
    expect(await sandbox.ended).toEqual({ signal: 'SIGTERM', uncovered: '/u' })
    expect([state.held, state.forgotten]).toEqual([0, [7]])
  })

  it.each(['refused', 'broken'] as const)('says why its command was %s', async (kind) => {
    const { link, spawner } = linkOf()
    const sandbox = new SandboxHandle(link, SANDBOX)
    const running = sandbox.run({ script: 'x' })
    spawner().onMessage({ type: kind, id: 7, reason: 'why' })
    expect(await running).toEqual({ kind, reason: 'why', stderr: '' })
    expect(sandbox.hasFailed).toBe(true)
  })

  it('is lost with its spawner, unless that was closed', async () => {
    const lost = linkOf()
    const sandbox = new SandboxHandle(lost.link, SANDBOX)
    const running = sandbox.run({ script: 'x' })
    lost.spawner().onLost('it was killed')
    const failure = { kind: 'lost', reason: 'it was killed', stderr: '' }
    expect([await running, await sandbox.ended, sandbox.hasFailed]).toEqual([failure, failure, true])
    const closed = linkOf()
    const other = new SandboxHandle(closed.link, SANDBOX)
    const started = other.run({ script: 'x' })
    closed.spawner().onLost()
    expect([await started, await other.ended]).toEqual([
      { kind: 'lost', reason: 'it was closed', stderr: '' },
      { signal: 'SIGKILL' },
    ])
  })

  it('is broken if its pipes cannot be opened, reports them as connected, and stops', async () => {
    const { link, said, spawner } = linkOf()
    const sandbox = new SandboxHandle(link, SANDBOX)
    const running = sandbox.run({ script: 'x' })
    spawner().onMessage({ type: 'pipes', id: 7, paths: ['/no/a', '/no/b', '/no/c'] })
    expect(await running).toMatchObject({
      kind: 'broken',
      reason: expect.stringContaining('ENOENT'),
      cause: { code: 'ENOENT' },
    })
    expect(types(said)).toEqual(['prewarm', 'run', 'stop', 'connected'])
  })

  it('is lost, and not to be started again, if its pipes cannot be opened and it has started', async () => {
    const { link, spawner } = linkOf()
    const starting = new SandboxHandle(link, SANDBOX).start({ script: 'x' }, new AbortController().signal)
    spawner().onMessage({ type: 'pipes', id: 7, paths: ['/no/a', '/no/b', '/no/c'] })
    spawner().onMessage({ type: 'running', id: 7 })
    spawner().onMessage({ type: 'ended', id: 7, signal: 'SIGTERM' })
    expect(await starting).toMatchObject({ kind: 'lost', cause: { code: 'ENOENT' } })
  })
})
