import { PGlite } from '@electric-sql/pglite'
import type { Store } from '@tool-hub/core'
import { PostgresDriver, type PostgresSession } from '../../packages/cluster/src/postgres/driver.ts'
import { createPostgresStore } from '../../packages/cluster/src/postgres/postgres-store.ts'
import { openSchema, type SchemaPlace } from '../../packages/cluster/src/postgres/schema.ts'
import { ALL_TABLES } from './all-tables.ts'

/** As the driver of `pg` reads BIGINT and NUMERIC. */
const PARSERS = { 20: Number, 1700: Number }

/** A PostgreSQL in this process, with one connection that stores take turns at. */
export class TestPglite {
  readonly #database = new PGlite()
  #turn: Promise<void> = Promise.resolve()

  /** A store in a schema of its own. */
  openStore(schema: string, now?: () => number): Store {
    const place: SchemaPlace = {
      ...{ name: 'pglite', host: 'here', database: 'postgres', user: 'postgres', schema },
      ...{ pool: 1, statementTimeoutMs: 10_000, connectTimeoutMs: 10_000 },
      steps: ALL_TABLES.postgres,
    }
    let opening: Promise<void> | undefined
    const open = async () => {
      const session = await this.#acquire(schema)
      await openSchema(session, place).finally(() => session.release())
    }
    const driver = new PostgresDriver({
      acquire: async () => {
        opening ??= open()
        await opening
        return this.#acquire(schema)
      },
      end: async () => {},
      schema,
    })
    return createPostgresStore(driver, { features: ALL_TABLES.features, now, check: async () => {} })
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  async #acquire(schema: string): Promise<PostgresSession> {
    const before = this.#turn
    let release = () => {}
    this.#turn = new Promise((resolve) => {
      release = resolve
    })
    await before
    await this.#database.exec(`SET search_path TO "${schema}", pg_temp`)
    return {
      query: async (sql, values) => {
        if (!values) return (await this.#database.exec(sql)).map(toResult).at(-1) ?? { rows: [], count: null }
        return toResult(await this.#database.query(sql, [...values], { parsers: PARSERS }))
      },
      release: () => release(),
    }
  }
}

function toResult({ rows, affectedRows }: { readonly rows: unknown[]; readonly affectedRows?: number }) {
  return { rows, count: affectedRows ?? rows.length }
}
