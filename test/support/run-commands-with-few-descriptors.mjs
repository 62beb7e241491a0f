import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '../../packages/tool-hub/dist/index.js'

/** Runs the first command of several hubs with 0, 12, 24 … free descriptors each; prints how these ended, and how later ones did. */
const base = process.argv[2]
const root = join(base, 'root')
mkdirSync(root)
const open = (name) =>
  createToolHub({
    sandbox: { root },
    policy: [{ allow: 'exec' }],
    runs: join(base, `${name}-runs`),
    data: join(base, `${name}-data`),
  })
const run = async (hub) => {
  const { error } = await hub.callDynamic('core/exec.run', { argv: ['true'] })
  return error ? `${error.code}: ${error.message}` : 'ok'
}
const first = open('first')
const outcomes = [await run(first)]
await first.close()
const hubs = Array.from({ length: 20 }, (_, n) => open(String(n)))
for (const hub of hubs) await hub.callDynamic('core/util.time.now', {})
const taken = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // None is left.
}
for (const hub of hubs) {
  outcomes.push(await run(hub))
  for (const descriptor of taken.splice(-12)) closeSync(descriptor)
}
for (const descriptor of taken) closeSync(descriptor)
const later = []
for (const hub of hubs) later.push(await run(hub))
await Promise.all(hubs.map((hub) => hub.close()))
console.log(JSON.stringify({ outcomes, later }))
