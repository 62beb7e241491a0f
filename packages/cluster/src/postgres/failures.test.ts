import { createServer } from 'node:net'
import { type Store, ToolError } from '@tool-hub/core'
import { openPostgresStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ALL_TABLES } from '../../../../test/support/all-tables.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { parseConnection } from './connect.ts'
import { PostgresDatabase } from './database.ts'
import type { PostgresStoreOptions } from './postgres-store.ts'

let server: TestPostgres
let schemas = 0
const opened: Store[] = []
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function open(options: PostgresStoreOptions = {}, url = server.url): Store {
  const store = openPostgresStore(url, { schema: `failures_${++schemas}`, connectTimeoutMs: 5_000, ...options })
  opened.push(store)
  return store
}

async function errorOf(work: () => unknown): Promise<ToolError> {
  try {
    await work()
  } catch (error) {
    if (ToolError.is(error)) return error
    throw error
  }
  throw new Error('Nothing failed.')
}

/** Ends the connections of stores, as a proxy or an administrator does. */
const dropConnections = () =>
  server.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tool-hub'`)

const claim = (store: Store, key: string) => store.keys.claim(key, { argsHash: 'h', owner: 'o', now: 1 })

describe('a server that is stopped and started again', () => {
  it('is reported as an error that can be retried, and used again without a new start', async () => {
    const store = open()
    await claim(store, 'before')
    const heard: string[] = []
    store.events.watch(({ topic }) => heard.push(topic))
    await server.stop('immediate')
    try {
      const error = await errorOf(() => store.rates.take([{ bucket: 'b', perSecond: 1, burst: 1 }], 1))
      expect(error).toMatchObject({ code: 'RECORDS_UNAVAILABLE', retryable: true })
      expect(error.fix.hint).toContain('the store connects by itself')
      await expect(store.check()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE', retryable: true })
    } finally {
      await server.start()
    }
    expect(await store.keys.look('before')).toMatchObject({ owner: 'o' })
    expect(await claim(store, 'after')).toBeUndefined()
    await expect
      .poll(async () => {
        await store.events.append({ topic: 'again', body: '', at: 1 })
        return heard.includes('again')
      })
      .toBe(true)
  })

  it('ends every statement under way with an error, and none is unhandled', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    process.on('uncaughtException', note)
    const store = open()
    await store.check()
    const work = Array.from({ length: 50 }, async (_, n) => store.approvals.file(approval(`a-${n}`)))
    const settled = Promise.allSettled(work)
    await server.stop('immediate')
    const outcomes = await settled
    await server.start()
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    // What was acknowledged has happened; what may have happened says so.
    const there = new Set((await store.approvals.briefs()).map(({ id }) => id))
    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') expect(there).toContain(`a-${n}`)
      else if (outcome.reason.retryable) expect(there).not.toContain(`a-${n}`)
      else expect(outcome.reason.details).toMatchObject({ outcome: 'unknown' })
    }
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
    expect(unhandled).toEqual([])
  })

  it('is not there at the first use: the next use tries again', async () => {
    const store = open()
    await server.stop('fast')
    const error = await errorOf(() => store.check()).finally(() => server.start())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.message).toContain('No PostgreSQL answers at')
    await store.check()
  })
})

describe('connections that are dropped', () => {
  it('are made again: reads and transactions go on as if nothing had happened', async () => {
    const store = open()
    await store.check()
    for (let round = 0; round < 3; round++) {
      dropConnections()
      expect(await store.keys.look('nothing')).toBeUndefined()
      dropConnections()
      await store.approvals.file(approval(`ask-${round}`))
    }
    expect(await store.approvals.briefs()).toHaveLength(3)
  })

  it('still bring the events of others, with a new connection for notices', async () => {
    const schema = `failures_${++schemas}`
    const one = open({ schema, pollMs: 3_600_000 })
    const two = open({ schema })
    await one.check()
    const heard: string[] = []
    one.events.watch(({ topic }) => heard.push(topic))
    const reaches = (topic: string) =>
      expect
        .poll(async () => {
          await two.events.append({ topic, body: '', at: 1 })
          return heard.includes(topic)
        })
        .toBe(true)
    await reaches('first')
    dropConnections()
    await reaches('second')
  })
})

describe('a server that does not answer', () => {
  it('is given up when connecting takes too long', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    const store = open({ connectTimeoutMs: 200 }, `postgres://u@127.0.0.1:${port}/db`)
    const error = await errorOf(() => store.check())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.message).toBe(`PostgreSQL at 127.0.0.1:${port}/db did not answer within 200 ms.`)
    silent.close()
  })

  it('stops a statement that takes too long, and continues', async () => {
    const schema = `failures_${++schemas}`
    const store = open({ schema, statementTimeoutMs: 500 })
    await claim(store, 'k')
    const blocker = open({ schema: `failures_${++schemas}`, statementTimeoutMs: 60_000 })
    await blocker.check()
    server.sql(`CREATE FUNCTION ${schema}.slow() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(30); RETURN NEW; END'`)
    server.sql(`CREATE TRIGGER slow BEFORE INSERT ON ${schema}.tokens FOR EACH ROW EXECUTE FUNCTION ${schema}.slow()`)
    const token = { id: 't', name: 'n', hash: 'h', body: '{}', createdAt: 1 }
    const error = await errorOf(() => store.tokens.add(token))
    expect(error).toMatchObject({ code: 'RECORDS_UNAVAILABLE', retryable: true })
    expect(error.message).toContain('did not answer within 500 ms')
    expect(await store.keys.look('k')).toMatchObject({ owner: 'o' })
  })

  it('says that all connections are busy, and serves those who wait as soon as one is free', async () => {
    const schema = `failures_${++schemas}`
    const store = open({ schema, pool: 2, connectTimeoutMs: 400, statementTimeoutMs: 1_500 })
    await store.check()
    server.sql(`CREATE FUNCTION ${schema}.slow() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(30); RETURN NEW; END'`)
    server.sql(`CREATE TRIGGER slow BEFORE INSERT ON ${schema}.tokens FOR EACH ROW EXECUTE FUNCTION ${schema}.slow()`)
    const slow = ['a', 'b'].map((name) =>
      errorOf(() => store.tokens.add({ id: name, name, hash: name, body: '{}', createdAt: 1 })),
    )
    const error = await errorOf(() => store.keys.look('k'))
    expect(error).toMatchObject({ code: 'RECORDS_UNAVAILABLE', retryable: true })
    expect(error.message).toBe('All 2 connections of the store were busy for 400 ms.')
    for (const each of await Promise.all(slow)) expect(each.message).toContain('did not answer within 1500 ms')
    expect(await store.keys.look('k')).toBeUndefined()
  })

  it('ends the transaction of a process that is stopped in it, so that others get its locks', async () => {
    const schema = `failures_${++schemas}`
    const store = open({ schema, statementTimeoutMs: 20_000 })
    await store.check()
    const { url } = server
    const limits = { pool: 1, statementTimeoutMs: 600, connectTimeoutMs: 5_000 }
    const connection = parseConnection({ url, schema, tls: undefined, ...limits })
    const stopped = new PostgresDatabase({ connection, steps: ALL_TABLES.postgres, isPrepared: true, pollMs: 1_000 })
    let attempts = 0
    let goOn = () => {}
    let isIn = () => {}
    const inside = new Promise<void>((resolve) => {
      isIn = resolve
    })
    const held = stopped.driver.transaction(async (queries) => {
      if (attempts++ > 0) return 'again'
      await queries.run(`INSERT INTO counters (name, value) VALUES ('held', 1)`, [])
      await new Promise<void>((resolve) => {
        goOn = resolve
        isIn()
      })
      await queries.run(`UPDATE counters SET value = 2 WHERE name = 'held'`, [])
      return 'first'
    })
    await inside
    // It waits for the lock of the whole store, which the other has.
    await store.memory.add({ id: 'n', scope: 's', text: 't', tags: [], origin: '{}', createdAt: 1, updatedAt: 1 })
    goOn()
    expect(await held).toBe('again')
    expect(server.sql(`SELECT COUNT(*) FROM ${schema}.counters WHERE name = 'held'`).trim()).toBe('0')
    await stopped.driver.close()
  })
})

describe('a store that is closed', () => {
  it('refuses every method, and leaves no connection', async () => {
    const store = openPostgresStore(server.url, { schema: `failures_${++schemas}` })
    await store.check()
    store.events.watch(() => {})
    await store.close()
    await expect(async () => store.keys.look('k')).rejects.toMatchObject({ message: 'The store is closed.' })
    await expect
      .poll(() => server.sql(`SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'tool-hub'`).trim())
      .toBe('0')
  })
})

function approval(id: string) {
  return {
    ...{ id, kind: 'approval' as const, callId: 'c', run: 'r', tool: 't', caller: 'ada', hash: 'h', request: '{}' },
    ...{ askedAt: 1, expiresAt: 100, owner: null },
  }
}
