import type { Migrations, Queries, StoreOfFeature } from '@tool-hub/core/sql'
import { OWN_TABLES } from './sqlite/migrations.ts'

/** The option of every store that says whose tables it has, in addition to its own. */
export interface FeatureTables {
  /** What features keep in the store. */
  readonly features: readonly StoreOfFeature[]
}

/** The tables of a store: our own, and those that features add. */
export interface StoreTables extends FeatureTables {
  /** The steps from an empty file to the current version, in order; a released step is never changed. */
  readonly sqlite: readonly string[]
  /** The same versions for PostgreSQL. */
  readonly postgres: readonly string[]
}

/** The tables of a store with these features. */
export function storeTables(features: readonly StoreOfFeature[]): StoreTables {
  const sources = [...OWN_TABLES, ...features.flatMap(({ tables }) => tables)].map(({ migrations }) => migrations)
  return { features, sqlite: stepsFor('sqlite', sources), postgres: stepsFor('postgres', sources).map(toPostgres) }
}

function stepsFor(dialect: Queries['dialect'], sources: readonly Migrations[]): string[] {
  const latest = Math.max(...sources.flatMap((source) => Object.keys(source).map(Number)))
  return Array.from({ length: latest }, (_, index) =>
    sources
      .map((source) => {
        const step = source[index + 1] ?? ''
        return typeof step === 'string' ? step : step[dialect]
      })
      .join(''),
  )
}

/** Text is ordered by its bytes, as SQLite does, in whatever language the database is. */
function toPostgres(step: string): string {
  return step.replaceAll(/\bTEXT\b(?!\[)/g, 'TEXT COLLATE "C"').replaceAll(/\bBLOB\b/g, 'BYTEA')
}
