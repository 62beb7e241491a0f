import { describe, expect, it } from 'vitest'
import { noJail } from '../../../../test/support/made-jails.ts'
import { type CommandCgroup, OpenJail } from './open-jail.ts'
import type { HubMessage } from './protocol.ts'
import type { JailListener, SpawnerLink } from './spawner-link.ts'

/** A link that only notes what is said; the test speaks for the spawner. */
function linkOf() {
  const said: HubMessage[] = []
  const state = { held: 0, forgotten: [] as number[] }
  let listener: JailListener | undefined
  const link = {
    listen(given: JailListener) {
      listener = given
      return 7
    },
    forget: (id: number) => void state.forgotten.push(id),
    send: (message: HubMessage) => void said.push(message),
    hold() {
      state.held += 1
      return () => {
        state.held -= 1
      }
    },
  } as unknown as SpawnerLink
  return { link, said, state, spawner: () => listener! }
}

const JAIL = { ...noJail(), seccomp: { fd: 3, program: Buffer.from('filter') }, swappable: ['/s'], closed: ['/c'] }
const types = (said: readonly HubMessage[]) => said.map(({ type }) => type)

describe('a sandbox from its beginning on', () => {
  it('is told all that it is made of, in order', () => {
    const { link, said, state } = linkOf()
    const jail = new OpenJail(link, { ...JAIL, companion: ['x'] })
    jail.open(JAIL, { isAhead: true })
    void jail.run('script', 'companion')
    void jail.stop(5)
    expect(said).toEqual([
      {
        ...{ type: 'seed', id: 7, level: 'none', env: JAIL.env, hasCompanion: true, entrances: [] },
        seccomp: { fd: 3, program: Buffer.from('filter').toString('base64') },
      },
      {
        ...{ type: 'open', id: 7, file: JAIL.file, args: JAIL.args, isAhead: true },
        ...{ swappable: ['/s'], closed: ['/c'] },
      },
      { type: 'run', id: 7, script: 'script', companion: 'companion' },
      { type: 'stop', id: 7, graceMs: 5 },
    ])
    expect([state.held, jail.hasFailed, jail.pid]).toEqual([2, false, undefined])
  })

  it('is told nothing before it has its group, and starts without one that cannot be had', async () => {
    for (const [entrances, expected] of [
      [async () => ['/g/tasks'], ['/g/tasks']],
      [async () => Promise.reject(new Error('read-only')), []],
    ] as const) {
      const { link, said, spawner } = linkOf()
      let removed = 0
      const cgroup: CommandCgroup = {
        entrances,
        async remove() {
          removed += 1
        },
      }
      const jail = new OpenJail(link, JAIL, cgroup)
      jail.open(JAIL, { isAhead: false })
      expect(said).toEqual([])
      await new Promise(setImmediate)
      expect([types(said), said[0]]).toMatchObject([['seed', 'open'], { entrances: expected, hasCompanion: false }])
      spawner().told({ type: 'ended', id: 7, exitCode: 0 })
      await jail.ended
      expect(removed).toBe(1)
    }
  })

  it('ends as its command ends, and lets go of its spawner', async () => {
    const { link, state, spawner } = linkOf()
    const jail = new OpenJail(link, JAIL)
    void jail.run('x')
    const stopping = jail.stop()
    spawner().told({ type: 'running', id: 7, pid: 99 })
    expect(jail.pid).toBe(99)
    spawner().told({ type: 'ended', id: 7, signal: 'SIGTERM', uncovered: '/u' })
    await stopping
    expect(await jail.ended).toEqual({ signal: 'SIGTERM', uncovered: '/u' })
    expect([state.held, state.forgotten]).toEqual([0, [7]])
  })

  it.each(['refused', 'broken'] as const)('says why its command was %s', async (kind) => {
    const { link, spawner } = linkOf()
    const jail = new OpenJail(link, JAIL)
    const running = jail.run('x')
    spawner().told({ type: kind, id: 7, reason: 'why' })
    expect(await running).toEqual({ kind, reason: 'why', words: '' })
    expect(jail.hasFailed).toBe(true)
  })

  it('is lost with its spawner, unless that was closed', async () => {
    const lost = linkOf()
    const jail = new OpenJail(lost.link, JAIL)
    const running = jail.run('x')
    lost.spawner().lost('it was killed')
    const failure = { kind: 'lost', reason: 'it was killed', words: '' }
    expect([await running, await jail.ended, jail.hasFailed]).toEqual([failure, failure, true])
    const closed = linkOf()
    const other = new OpenJail(closed.link, JAIL)
    const started = other.run('x')
    closed.spawner().lost()
    expect([await started, await other.ended]).toEqual([
      { kind: 'lost', reason: 'it was closed', words: '' },
      { signal: 'SIGKILL' },
    ])
  })

  it('is broken where its pipes cannot be opened, says that it has taken them, and stops', async () => {
    const { link, said, spawner } = linkOf()
    const jail = new OpenJail(link, JAIL)
    const running = jail.run('x')
    spawner().told({ type: 'pipes', id: 7, paths: ['/no/a', '/no/b', '/no/c'] })
    expect(await running).toMatchObject({
      kind: 'broken',
      reason: expect.stringContaining('ENOENT'),
      cause: { code: 'ENOENT' },
    })
    expect(types(said)).toEqual(['seed', 'run', 'stop', 'taken'])
  })
})
