// A process of a cluster for tests: takes a call per line on standard input, and prints its result.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { systemClock } from '../../src/core/context.ts'
import { defineTool } from '../../src/core/tool.ts'
import { createToolHub } from '../../src/create-tool-hub.ts'
import { openStore } from '../../src/store/sqlite.ts'

const { data, runs, ahead, effects } = JSON.parse(process.argv[2])
/** The time of the test, the same in all its processes. */
const now = () => Date.now() + Number(readFileSync(ahead, 'utf8'))
const store = openStore(data, { now })
const effect = defineTool({
  name: 'test.effect',
  description: 'Does something elsewhere.',
  input: z.strictObject({ what: z.string() }),
  capabilities: ['remote'],
  execute({ what }) {
    appendFileSync(effects, `${what}\n`)
    return what
  },
})
const pure = defineTool({
  name: 'test.pure',
  description: 'Does nothing.',
  input: z.strictObject({}),
  capabilities: [],
  execute: () => 'done',
})
const hub = createToolHub({
  ...{ tools: [effect, pure], store: { ...store, isShared: true }, clock: { now, after: systemClock.after } },
  ...{ runs, data: `${runs}-data` },
  policy: [{ allow: 'remote' }, { deny: 'test.pure', when: { tainted: true } }],
})

const COMMANDS = {
  beat: () => hub.cluster.beat(),
  end: ({ run }) => hub.endRun(run),
  lease: ({ run }) => hub.cluster.leaseOf(run),
  async call({ tool, input, ...options }) {
    const { ok, error, meta } = await hub.callDynamic(tool, input, options)
    return { ok, code: error?.code, cached: meta.cached }
  },
}

await hub.cluster.beat()
console.log(JSON.stringify({ id: hub.cluster.id }))
for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...options } = JSON.parse(line)
  console.log(JSON.stringify((await COMMANDS[command](options)) ?? {}))
}
await hub.close()
await store.close()
