import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { readEvents } from '../src/records/log/read-events.ts'
import { verifyRun } from '../src/records/log/verify-run.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, 'support/load-typescript.mjs')).href
const PROGRAM = join(import.meta.dirname, 'support/cluster-process.mjs')
/** Longer than a process is believed to be alive. */
const LEASE_MS = 11_000

const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    const isOver = child.exitCode !== null || child.signalCode !== null
    const over = isOver ? undefined : once(child, 'exit')
    child.kill('SIGKILL')
    await over
  }
})

/** Real processes with one store and one clock, and a folder of runs for each, as on machines of their own. */
function newCluster() {
  const folder = temporaryFolder('cluster-processes')
  const place = { data: join(folder, 'data'), ahead: join(folder, 'ahead'), effects: join(folder, 'effects') }
  writeFileSync(place.ahead, '0')
  writeFileSync(place.effects, '')
  const start = async () => {
    const runs = join(mkdtempSync(join(folder, 'machine-')), 'runs')
    const child = spawn(process.execPath, ['--import', LOADER, PROGRAM, JSON.stringify({ ...place, runs })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
    const answer = async () => JSON.parse((await lines.next()).value)
    const { id } = await answer()
    const send = (command: string, options: object = {}) => {
      child.stdin?.write(`${JSON.stringify({ command, run: 'r', ...options })}\n`)
      return answer()
    }
    return {
      ...{ id, child, runs, send },
      act: (what: string) => send('call', { tool: 'test.effect', input: { what }, idempotencyKey: what }),
      read: () => send('call', { tool: 'test.pure', input: {} }),
    }
  }
  return {
    start,
    /** Lets the time of all processes pass; those that run send a heartbeat then. */
    async pass(ms: number, running: readonly Awaited<ReturnType<typeof start>>[]) {
      writeFileSync(place.ahead, String(Number(readFileSync(place.ahead, 'utf8')) + ms))
      for (const { send } of running) await send('beat')
    },
    effects: () => readFileSync(place.effects, 'utf8').split('\n').slice(0, -1),
  }
}

async function typesIn(runs: string): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of readEvents(join(runs, 'r'))) types.push(type)
  return types
}

it('one process takes over the run of a process that was killed, with its record and its taint', async () => {
  const { start, pass, effects } = newCluster()
  const [a, b, c] = await Promise.all([start(), start(), start()])
  expect(await a.act('first')).toMatchObject({ ok: true })
  expect(await b.act('early')).toMatchObject({ ok: false, code: 'RUN_ELSEWHERE' })
  a.child.kill('SIGKILL')
  await once(a.child, 'exit')
  await pass(LEASE_MS, [b, c])
  const calls = await Promise.all([b.act('second'), c.act('second')])
  const won = calls.findIndex(({ ok }) => ok)
  expect(calls[1 - won]).toMatchObject({ ok: false, code: 'RUN_ELSEWHERE' })
  const winner = [b, c][won]!
  expect(await winner.send('lease')).toEqual({ owner: winner.id, epoch: 2 })
  expect(await winner.read()).toMatchObject({ ok: false, code: 'POLICY_DENIED' })
  // The result of the process that was killed.
  expect(await winner.act('first')).toMatchObject({ ok: true, cached: true })
  expect(effects()).toEqual(['first', 'second'])
  await winner.send('end')
  const types = await typesIn(winner.runs)
  expect(types.filter((type) => type === 'run-opened' || type === 'run-tainted')).toEqual([
    ...['run-opened', 'run-tainted', 'run-opened'],
  ])
  expect(await verifyRun(join(winner.runs, 'r'))).toMatchObject({ ok: true, problems: [] })
})

it('a process that was stopped for longer than its lease executes nothing that it finds on waking', async () => {
  const { start, pass, effects } = newCluster()
  const [a, b] = await Promise.all([start(), start()])
  expect(await a.act('first')).toMatchObject({ ok: true })
  a.child.kill('SIGSTOP')
  const late = a.act('late')
  await pass(LEASE_MS, [b])
  expect(await b.act('second')).toMatchObject({ ok: true })
  a.child.kill('SIGCONT')
  expect(await late).toMatchObject({
    ok: false,
    code: expect.stringMatching(/^(PROCESS_CUT_OFF|RUN_MOVED|RUN_ELSEWHERE)$/),
  })
  await a.send('beat')
  expect(await a.act('later')).toMatchObject({ ok: false, code: 'RUN_ELSEWHERE' })
  expect(effects()).toEqual(['first', 'second'])
  await b.send('end')
  expect(await a.act('back')).toMatchObject({ ok: true })
  expect(await a.send('lease')).toEqual({ owner: a.id, epoch: 3 })
  await a.send('end')
  expect(effects()).toEqual(['first', 'second', 'back'])
  expect(await verifyRun(join(a.runs, 'r'))).toMatchObject({ ok: true, problems: [] })
})
