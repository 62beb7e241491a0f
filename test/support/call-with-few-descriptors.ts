import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { draftsBelow, openBelow } from './left-behind.ts'

/** Makes far more concurrent calls than there are descriptors; prints what came of them and whether later calls work. */
const base = process.argv[2]!
const root = join(base, 'few')
mkdirSync(root)
for (let n = 0; n < 300; n += 1) writeFileSync(join(root, `${n}.txt`), 'text')
const open = () =>
  createToolHub({
    sandbox: { root },
    policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }],
    runs: join(base, 'few-runs'),
    data: join(base, 'few-data'),
  })
const hub = open()
// The first call opens the records; then all together.
await hub.callDynamic('core/fs.readText', { path: '0.txt' })
const calls = Array.from({ length: 300 }, (_, n) => [
  hub.callDynamic('core/fs.readText', { path: `${n}.txt` }),
  hub.callDynamic('core/fs.writeText', { path: `${n}.txt`, text: `new ${n}`, overwrite: true }),
  hub.callDynamic('core/fs.writeText', { path: `deep/${n}/new.txt`, text: 'new' }),
])
const results = await Promise.all(calls.flat())
const codes = [...new Set(results.map(({ error }) => error?.code ?? 'ok'))]
await hub.close()
// Another hub: this one has paused the tools that failed so often.
const next = open()
const read = await next.callDynamic('core/fs.readText', { path: '1.txt' })
const write = await next.callDynamic('core/fs.writeText', { path: 'deep/last.txt', text: 'x' })
const openAfter = openBelow(root)
await next.close()
const after = [read.error ?? null, write.error ?? null]
console.log(JSON.stringify({ codes, after, drafts: draftsBelow(root), openAfter }))
