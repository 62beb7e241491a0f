import { afterEach, describe, expect, it } from 'vitest'
import { runScript } from '../../../../test/support/run-script.ts'
import { ScriptEngine } from './index.ts'
import { FairTurns } from './worker-pool.ts'

const engines: ScriptEngine[] = []
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close()
})

/** An engine whose scripts wait in their only call until they are let go. */
function open(maxWorkers: number) {
  const engine = new ScriptEngine({ maxWorkers })
  engines.push(engine)
  const started: string[] = []
  const held = new Map<string, () => void>()
  const waiting = new Map<string, () => void>()
  const hold = (name: string, principal?: string, signal = new AbortController().signal) =>
    runScript(engine, 'await tools.core.echo({}); 1', {
      principal,
      signal,
      call: () => {
        started.push(name)
        waiting.get(name)?.()
        return new Promise((resolve) => held.set(name, () => resolve({ ok: true, value: 1 })))
      },
    })
  const whenStarted = (name: string) =>
    started.includes(name) ? undefined : new Promise<void>((resolve) => waiting.set(name, resolve))
  return { engine, started, hold, whenStarted, letGo: (name: string) => held.get(name)!() }
}

describe('workers', () => {
  it('are free for others, however many scripts one principal starts', async () => {
    const { engine, started, hold, whenStarted, letGo } = open(4)
    const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']
    const all = names.map((name) => hold(name, 'token:a'))
    await whenStarted('a1')
    await whenStarted('a2')
    expect((await runScript(engine, '1 + 1', { principal: 'token:b' })).outcome).toMatchObject({ value: 2 })
    expect((await runScript(engine, '1 + 1')).outcome).toMatchObject({ value: 2 })
    expect(started).toEqual(expect.arrayContaining(['a1', 'a2']))
    expect(started).toHaveLength(2)
    for (const name of names) {
      await whenStarted(name)
      letGo(name)
    }
    expect((await Promise.all(all)).map(({ outcome }) => outcome.status)).toEqual(names.map(() => 'completed'))
  })

  it('compute for others while one principal fills its share with endless loops', { timeout: 60_000 }, async () => {
    const { engine } = open(8)
    const stop = new AbortController()
    const loops = Array.from({ length: 16 }, () =>
      runScript(engine, 'for (;;);', { principal: 'token:a', signal: stop.signal, limits: { cpuMs: 600_000 } }),
    )
    const { outcome } = await runScript(engine, '1 + 1', { principal: 'token:b' })
    expect(outcome).toMatchObject({ value: 2 })
    stop.abort()
    expect((await Promise.all(loops)).map(({ outcome: { status } }) => status)).toEqual(loops.map(() => 'failed'))
  })

  it('are all there for the owner', async () => {
    const { hold, whenStarted, letGo } = open(3)
    const names = ['o1', 'o2', 'o3']
    const all = names.map((name) => hold(name))
    for (const name of names) await whenStarted(name)
    for (const name of names) letGo(name)
    await Promise.all(all)
  })

  it('are taken in turns by the principals who wait, and scripts that are stopped do not count', async () => {
    const { started, hold, whenStarted, letGo } = open(1)
    const stop = new AbortController()
    const owner = hold('o')
    await whenStarted('o')
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
    const all = names.map((name) => hold(name, name[0], name === 'c1' ? stop.signal : undefined))
    stop.abort()
    letGo('o')
    await owner
    const order = ['a1', 'b1', 'a2', 'b2', 'a3']
    for (const name of order) {
      await whenStarted(name)
      letGo(name)
    }
    await Promise.all(all)
    expect(started).toEqual(['o', ...order])
  })

  it('are waited for without using up the time of the script', async () => {
    const { engine, hold, whenStarted, letGo } = open(1)
    const first = hold('first')
    await whenStarted('first')
    const limits = { wallMs: 2_000 }
    const second = runScript(engine, '1', { limits })
    const other = open(1).engine
    const late = await runScript(other, 'await tools.core.echo({})', {
      limits,
      call: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    })
    expect(late.outcome).toMatchObject({ kind: 'TIMEOUT' })
    letGo('first')
    await first
    expect((await second).outcome).toMatchObject({ status: 'completed', value: 1 })
  })
})

it.each([
  [['a'], [4]],
  [
    ['a', 'b'],
    [4, 2],
  ],
  [
    ['a', 'b', 'c', 'd', 'e'],
    [4, 2, 1, 1, 0],
  ],
  [[undefined], [8]],
  [
    ['a', undefined],
    [4, 4],
  ],
  [
    [undefined, 'a'],
    [8, 0],
  ],
])('if each of %j asks for eight of eight workers, they have %j', async (principals, expected) => {
  const turns = new FairTurns(8, () => {})
  const shares = principals.map(() => 0)
  for (const [index, principal] of principals.entries()) {
    for (let asked = 0; asked < 8; asked++) void take(turns, principal).then(() => shares[index]!++)
  }
  await new Promise(setImmediate)
  expect(shares).toEqual(expected)
})

it.each([
  { holds: ['a', 'a'], waits: 'a', wanted: ['a'] },
  { holds: ['a', 'a', 'b'], waits: 'a', wanted: ['a'] },
  { holds: ['a', 'a', 'b', 'c'], waits: 'd', wanted: ['a', 'b', 'c'] },
  { holds: ['a', 'a', 'b', 'c'], waits: 'a', wanted: [] },
  { holds: ['a', 'a', undefined, undefined], waits: undefined, wanted: ['a', undefined] },
])('while $holds hold workers and $waits waits, those of $wanted are wanted', async ({ holds, waits, wanted }) => {
  let waitings = 0
  const turns = new FairTurns(4, () => void waitings++)
  for (const principal of holds) expect(await take(turns, principal)).toBe(true)
  expect(turns.isWanted('a')).toBe(false)
  void take(turns, waits)
  expect(waitings).toBe(1)
  const principals = [...new Set(holds)]
  expect(principals.filter((principal) => turns.isWanted(principal))).toEqual(wanted)
})

function take(turns: FairTurns, principal: string | undefined): Promise<boolean> {
  return turns.take(principal, new AbortController().signal)
}
