// A process of a cluster for tests: takes a call per line on standard input, and prints its result.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { systemClock } from '../../packages/core/src/context.ts'
import { defineTool } from '../../packages/core/src/tool.ts'
import { createToolHub } from '../../packages/library/src/create-tool-hub.ts'
import { openPostgresStore, openStore } from '../../packages/library/src/stores.ts'
import { startWebhooks } from '../../packages/server/src/approvals/webhooks.ts'

const { data, database, runs, ahead, effects, hook, options = {} } = JSON.parse(process.argv[2])
/** The time of the test, the same in all its processes. */
const now = () => Date.now() + Number(readFileSync(ahead, 'utf8'))
const clock = { now, after: systemClock.after }
const store = database
  ? openPostgresStore(database.url, { ...database, now })
  : { ...openStore(data, { now }), location: 'network' }
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
const asked = defineTool({ ...effect, name: 'test.asked' })
const hang = defineTool({
  ...effect,
  name: 'test.hang',
  execute({ what }) {
    appendFileSync(effects, `${what} ${hub.cluster.id}\n`)
    return new Promise(() => {})
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
  ...{ tools: [effect, asked, hang, pure], store, clock },
  ...{ runs, data: `${runs}-data` },
  policy: [{ ask: 'test.asked' }, { allow: 'remote' }, { deny: 'test.pure', when: { tainted: true } }],
  ...options,
})
if (hook)
  startWebhooks({ hub, hooks: [hook], store, clock, publicUrl: () => `http://${hub.cluster.id}/`, onProblem() {} })

const COMMANDS = {
  beat: () => hub.cluster.beat(),
  end: ({ run }) => hub.endRun(run),
  lease: ({ run }) => hub.cluster.leaseOf(run),
  async call({ tool, input, ...options }) {
    const { ok, error, meta, data } = await hub.callDynamic(tool, input, options)
    return { ok, code: error?.code, cached: meta.cached, data }
  },
  /** A method of the hub or of one of its services, such as `schedules.add`. */
  do({ method, args = [] }) {
    const path = method.split('.')
    const name = path.pop()
    return path.reduce((each, key) => each[key], hub)[name](...args)
  },
}

await hub.cluster.beat()
console.log(JSON.stringify({ id: hub.cluster.id }))
for await (const line of createInterface({ input: process.stdin })) {
  const { command, isAwaited = true, ...options } = JSON.parse(line)
  const done = Promise.resolve(options).then(COMMANDS[command])
  const answer = await (isAwaited ? done : undefined)?.catch(({ message }) => ({ thrown: message }))
  console.log(JSON.stringify(answer ?? {}))
}
await hub.close()
await store.close()
