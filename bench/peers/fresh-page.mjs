// Reads lines from the middle of big.log, or scans it, and prints how many milliseconds that took.
import { join } from 'node:path'
import { projectHub } from '../lib/ours.mjs'
import { countLines } from '../rows/read-page.mjs'

const [what, root, runs] = process.argv.slice(2)
const hub = what === 'page' ? projectHub({ runs, root }) : undefined
const start = performance.now()
const result = hub ? await hub.call('read', { path: 'big.log', offset: 500_000, limit: 51 }) : undefined
if (!hub) await countLines(join(root, 'big.log'))
console.log(performance.now() - start)
if (result && !result.ok) throw new Error(result.error.message)
await hub?.close()
