import { createHash } from 'node:crypto'
import type { TableSource } from '@tool-hub/core/sql'
import { expect, it } from 'vitest'
import { ALL_TABLES } from '../../../../test/support/all-tables.ts'
import { openMemoryDatabase } from './sqlite/database.ts'
import { OWN_TABLES } from './store-tables.ts'

/** The hashes of the steps of SQLite and of PostgreSQL. Databases have applied them: a change needs a new step. */
const STEPS: readonly (readonly [version: number, sqlite: string, postgres: string])[] = [
  [1, '7a562ff60caa6e95', '9f1e0936f5368094'],
  [2, 'c54b8bc4b20bb4ab', 'cc1c5518627c7b81'],
  [3, 'd8d644724ba53870', 'c52bfe3e35be8fad'],
  [4, '371b8c69d8a2ea71', '7d849149a6db2915'],
  [5, '2aa4d15a9f41a8be', '15987371047d0990'],
  [6, '0d157d22a527cfe6', 'ed6a2561f3355db5'],
  [7, 'd6626f4dbdb5ccb7', 'd6626f4dbdb5ccb7'],
  [8, 'bd65ad834dfa0909', '77fba83b96e90d7d'],
  [9, '0e8a9dcfea929db1', '4e740114c354add8'],
  [10, 'f58987ad8097824a', '1907df82b5607687'],
  [11, '665e1dcf663f9be6', 'dd75944517fa2aa9'],
  [12, '9e8bb546ee952778', '021e7d21df206264'],
  [13, 'b1e270b5f4087782', '16374a369a07fdbb'],
  [14, '9df0618253ecfa0d', '7678d4068b64b4b7'],
  [15, '28797200d719f6c1', '57ca7d40e946e95b'],
  [16, '307d6246161de5a6', '6b3171cac4c4a820'],
  [17, 'd5758e5f6f81a8eb', '4865e03fbdb7e851'],
  [18, 'd3f2c2cbfb5a2faa', '1951afcc1ea2a640'],
  [19, 'e6921d3e0516a22f', '8ea85ab116f3d2c9'],
  [20, '415cd244aeb08e3c', 'fd5976a7285df2a4'],
  [21, '3fb4ea7c0791b5f4', 'a21434b91fa1e2f6'],
  [22, 'e08f16e4cc289c57', '2501907a5a81f9b1'],
  [23, 'f6b85f7c9b65b243', 'fa7d596fa8501185'],
  [24, '22cdc4c953b99a1b', '4e25ab4992df9fe1'],
  [25, '8ba63d438c7d7b78', '0f6806596449154b'],
  [26, '97e4b655286b7bbc', 'af4403cb7d429c2e'],
  [27, 'ad54496f85309487', 'ad54496f85309487'],
  [28, '7c97f09ba96aad9d', '7c97f09ba96aad9d'],
]

it('never changes a step that databases have applied', () => {
  const { sqlite, postgres } = ALL_TABLES
  const steps = sqlite.map((step, index) => [index + 1, hashOf(step), hashOf(postgres[index]!)])
  expect(steps.slice(0, STEPS.length)).toEqual(STEPS)
})

it('has on record every step', () => {
  expect(ALL_TABLES.sqlite).toHaveLength(STEPS.length)
})

it('makes the tables that are described, with the columns that are described', () => {
  const database = openMemoryDatabase(ALL_TABLES)
  const described = [...OWN_TABLES, ...ALL_TABLES.features.flatMap(({ tables }) => tables)].filter(isTable)
  expect(described).toHaveLength(38)
  for (const { name, names } of described) {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(name)
    const others = columns
      .map((row) => (row as { name: string }).name)
      .filter((column) => !(name === 'calls' && column === 'number'))
    expect({ name, columns: others.sort() }).toEqual({ name, columns: Object.values<string>(names).sort() })
  }
  database.close()
})

function isTable(source: TableSource): source is TableSource & { name: string; names: Record<string, string> } {
  return 'names' in source
}

function hashOf(step: string): string {
  const lines = step.split('\n').map((line) => line.trimEnd())
  const text = lines.filter((line) => line !== '').join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
