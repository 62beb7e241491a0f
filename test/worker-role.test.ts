import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, type HubOptions, type Principal } from '@tool-hub/core'
import { once } from '@tool-hub/core/lib'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { migratePostgres, openPostgresStore } from '@tool-hub/library/stores'
import type { Hub } from '@tool-hub/runtime/hub'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { NewProcess } from '../packages/cluster/src/store/types.ts'
import { type StartedWorker, startWorker, type WorkerLogEntry } from '../packages/server/src/start-worker.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let server: TestPostgres
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  server = await startPostgres({ tcp: true })
  server.sql('CREATE ROLE tool_hub LOGIN')
  server.sql('CREATE DATABASE hub OWNER tool_hub')
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  await server.close()
})

/** The tools of all processes; each writes down that it was executed. */
const toolsOf = (executed: number[]): HubOptions['tools'] => [
  defineTool({
    name: 'test.double',
    description: 'Doubles a number; with a long text, the result is stored in parts.',
    input: z.strictObject({ number: z.number(), chars: z.number() }),
    capabilities: ['send'],
    where: 'worker',
    execute: ({ number, chars }, ctx) => {
      executed.push(number)
      ctx.progress('half of it')
      return { number: number * 2, text: 'x'.repeat(chars) }
    },
  }),
]

/** A store whose tables belong to the user of the services, with a role for workers of its own. */
async function open() {
  const schema = `t_${randomBytes(4).toString('hex')}`
  const role = `${schema}_worker`
  const url = server.urlOf({ database: 'hub', user: 'tool_hub' })
  await migratePostgres(url, { schema })
  server.sql(`CREATE ROLE ${role} LOGIN`)
  const script = readFileSync('deploy/worker-role.sql', 'utf8')
  // The names of a default store, in one pass.
  const names = (name: string) => (name === 'tool_hub_worker' ? role : name.replace('tool_hub', schema))
  const grant = () => server.sql(`SET ROLE tool_hub; ${script.replaceAll(/\btool_hub(_\w+)?/g, names)}`, 'hub')
  const folder = temporaryFolder('worker-role')
  const store = openPostgresStore(url, { schema, connectTimeoutMs: 60_000 })
  closing.push(() => store.close())
  const executed: number[] = []
  const tools = toolsOf(executed)
  const own = { runs: join(folder, 'runs'), data: join(folder, 'data') }
  // No token is known any more.
  const hub: Hub = createToolHub({ store, tools, policy: [{ allow: 'send' }], principals: () => undefined, ...own })
  closing.push(() => hub.close({ abort: true }))
  const log: WorkerLogEntry[] = []
  const work = async (user: string): Promise<StartedWorker> => {
    const database = { url: server.urlOf({ database: 'hub', user }), schema }
    const places = { runs: join(folder, `runs-${user}`), data: join(folder, `data-${user}`) }
    const started = await startWorker(
      { database, tools, policy: [{ allow: 'send' }], ...places },
      { onLog: (entry) => void log.push(entry) },
    )
    closing.push(() => started.close())
    return started
  }
  const asWorker = (sql: string) => server.sql(`SET ROLE ${role}; SET search_path TO ${schema}; ${sql}`, 'hub')
  return {
    schema,
    role,
    hub,
    as: (principal: Principal) => hub.as(principal),
    store,
    executed,
    grant,
    work,
    log,
    asWorker,
  }
}

const shared = once(async () => {
  const opened = await open()
  // Twice: it is run again after every migration.
  opened.grant()
  opened.grant()
  return opened
})

describe('the database user of workers', () => {
  it('is enough for a worker to start, to execute calls and to stop', async () => {
    const { hub, role, grant, work, log } = await open()
    grant()
    const { drain } = await work(role)
    expect(log).toEqual([])
    const call = (chars: number) => hub.callDynamic('test.double', { number: 21, chars })
    expect(await call(1)).toMatchObject({ ok: true, data: { number: 42, text: 'x' } })
    const long = await call(1_000_000)
    expect(long).toMatchObject({ ok: true })
    expect(await drain()).toBe(true)
    expect(log.filter(({ level }) => level === 'warn')).toEqual([])
  })

  it.each([
    ['tokens', 'SELECT * FROM tokens'],
    ['hashes of tokens', 'SELECT hash FROM tokens'],
    ['an admin token of its own', `INSERT INTO tokens VALUES ('i', 'evil', 'h', '{}', 1, NULL, NULL)`],
    ['approvals', 'SELECT * FROM asks'],
    ['its own answer to an approval', `UPDATE asks SET state = 'answered'`],
    ['grants', `INSERT INTO grants VALUES ('g', 'core/exec.run', '{}', 1, NULL)`],
    ['sign-ins', 'SELECT * FROM sessions'],
    ['documents', 'SELECT * FROM documents'],
    ['records', 'SELECT * FROM segments'],
    ['words of users', 'SELECT * FROM user_texts'],
    ['results of other calls', 'SELECT result FROM worker_calls'],
    ['parts of other results', 'SELECT content FROM blob_parts'],
    ['a key of its own', `INSERT INTO cluster_settings VALUES ('mine', 'x')`],
    ['another key of jobs', `UPDATE cluster_settings SET value = 'x'`],
    [
      'a call for another worker',
      `INSERT INTO worker_calls VALUES ('c', 'worker', 'r', NULL, NULL, 'queued', NULL, 1, NULL, NULL)`,
    ],
    ['another run of a call', `UPDATE worker_calls SET run = 'other'`],
    ['another owner of a run', `UPDATE run_states SET owner = 'me'`],
    ['parts of content of runs', `INSERT INTO blob_parts VALUES ('run/r/1', 0, 'x', 1)`],
    ['events of services', `INSERT INTO events VALUES (999, 'token-revoked', '{}', 1)`],
    [
      'a service at its own address',
      `INSERT INTO processes VALUES ('p', 'service', 'http://evil', 'h', 1, '1', '[]', 0, NULL, 0, NULL, 1, 1)`,
    ],
    [
      'an address of its own',
      `INSERT INTO processes VALUES ('p', 'worker', 'http://evil', 'h', 1, '1', '[]', 0, NULL, 0, NULL, 1, 1)`,
    ],
    ['tables of its own', 'CREATE TABLE mine (x INTEGER)'],
  ])('has no access to %s', async (_, sql) => {
    const { asWorker } = await shared()
    expect(() => asWorker(sql)).toThrow(/permission denied|row-level security/)
  })

  it('cannot add or change a job, nor see or change rows that are not of workers', async () => {
    const { asWorker, store, schema } = await shared()
    const queue = `${schema}_queue`
    expect(() => asWorker(`INSERT INTO ${queue}.job (name, data) VALUES ('worker', '{}')`)).toThrow('permission denied')
    expect(() => asWorker(`UPDATE ${queue}.job SET data = '{}'`)).toThrow('permission denied')
    for (const name of ['cluster', 'workers']) await store.settings.secret(name)
    expect(asWorker('SELECT name FROM cluster_settings').trim()).toBe('workers')
    await store.processes.beat({ ...SERVICE, id: 'p-service' })
    expect(asWorker(`UPDATE processes SET running = 1 WHERE kind = 'service' RETURNING id`).trim()).toBe('')
    expect(asWorker(`DELETE FROM processes WHERE kind = 'service' RETURNING id`).trim()).toBe('')
    await store.events.append({ topic: 'call-ended', body: '{"secret":1}', at: Date.now() })
    expect(asWorker(`SELECT body FROM events WHERE topic = 'call-ended'`).trim()).toBe('')
    expect((await store.processes.list()).find(({ id }) => id === 'p-service')).toMatchObject(SERVICE)
  })
})

describe('a worker', () => {
  it('with the database user of the services is warned', async () => {
    const { work, log } = await open()
    await work('tool_hub')
    expect(log).toMatchObject([{ level: 'warn', message: expect.stringContaining('deploy/worker-role.sql') }])
  })

  it('whose user may use nothing says what to do', async () => {
    const { work, role } = await open()
    await expect(work(role)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('does not execute a queued call whose token was revoked', async () => {
    const { store, as, grant, work, role, executed } = await open()
    grant()
    const calling = as({ name: 'token:ci' }).callDynamic('test.double', { number: 1, chars: 1 })
    await expect(calling).resolves.toMatchObject({ error: { code: 'FORBIDDEN' } })
    await work(role)
    expect(await store.workerCalls.queues()).toEqual([])
    expect(executed).toEqual([])
  })
})

const SERVICE: Omit<NewProcess, 'id'> = {
  ...{ kind: 'service' as const, address: 'http://hub-1:4041', host: 'hub-1', pid: 1, version: '1.0.0', labels: [] },
  ...{ running: 0, isDraining: false, startedAt: 1 },
}
