// Keeps the store of a service locked for a while, as another process could: node hold-store.mjs FILE MS.
import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'

const [file, ms] = process.argv.slice(2)
const database = new DatabaseSync(file, { timeout: 5_000 })
database.exec('BEGIN EXCLUSIVE')
console.log('locked')
await wait(Number(ms))
database.exec('COMMIT')
database.close()
