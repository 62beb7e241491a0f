// Runs one row in a process of its own, so that no row meets the heap or the compiled code of another.
import { ROWS } from './rows/index.mjs'

const [name, rounds] = process.argv.slice(2)
if (!ROWS.some((row) => row.name === name)) throw new Error(`Unknown row ${name}.`)
const { default: run } = await import(`./rows/${name}.mjs`)
process.send(await run({ rounds: Number(rounds) }))
process.disconnect()
