import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { readEvents } from '../packages/runtime/src/records/log/read-events.ts'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { killProcesses, LEASE_MS, newCluster } from './support/cluster-processes.ts'

afterEach(killProcesses)

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
  await a.kill()
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
