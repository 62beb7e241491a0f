import { appendFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyTool, defineTool } from '@tool-hub/core'
import { openPostgresStore } from '@tool-hub/library/stores'
import { z } from 'zod'
import { createBareHub } from './create-bare-hub.ts'

/** How a process of a test is started. */
export interface WorkerProcessOptions {
  readonly url: string
  readonly schema: string
  readonly folder: string
  /** The worker kills itself when it has taken a job, before it claims the call. */
  readonly diesBeforeClaim?: boolean
  readonly labels?: readonly string[]
  readonly concurrency?: number
  /** Calls to make, for the process of a run instead of a worker. */
  readonly calls?: readonly { readonly tool: string; readonly input: unknown }[]
}

/** The tools of all processes: each writes down that it was executed. */
export function workerTools(folder: string): AnyTool[] {
  const input = z.strictObject({ name: z.string(), ms: z.number() })
  const execute = async ({ name, ms }: z.infer<typeof input>, { signal }: { readonly signal: AbortSignal }) => {
    appendFileSync(`${folder}/executed`, `${name}\n`)
    await sleep(ms, undefined, { signal }).catch((error) => {
      appendFileSync(`${folder}/stopped`, `${name}\n`)
      throw error
    })
    return { name, pid: process.pid }
  }
  const common = { description: 'Wait.', input, where: 'worker:gpu', execute, timeoutMs: 120_000 } as const
  return [
    defineTool({ ...common, name: 'test.once', capabilities: ['send'] }),
    defineTool({ ...common, name: 'test.repeat', capabilities: ['send'], retry: { attempts: 3, baseMs: 1 } }),
  ]
}

if (process.argv[2]?.startsWith('{')) await main(JSON.parse(process.argv[2]))

async function main(options: WorkerProcessOptions): Promise<void> {
  const { url, schema, folder, labels = ['gpu'], concurrency = 4 } = options
  const opened = openPostgresStore(url, { schema })
  const store = options.diesBeforeClaim
    ? { ...opened, workerCalls: { ...opened.workerCalls, claim: () => process.kill(process.pid, 'SIGKILL') as never } }
    : opened
  const own = { runs: `${folder}/runs-${process.pid}`, data: `${folder}/data-${process.pid}` }
  const hub = createBareHub({ store, tools: workerTools(folder), policy: [{ allow: 'send' }], ...own })
  const say = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`)
  if (options.calls) {
    say('ready')
    await Promise.all(options.calls.map(async ({ tool, input }) => say(await hub.callDynamic(tool, input))))
    await hub.close()
    await store.close()
    return
  }
  const worker = await hub.work({ labels, concurrency })
  process.once('SIGTERM', async () => {
    say({ drained: await worker.drain({ timeoutMs: 60_000 }) })
    await hub.close()
    await store.close()
  })
  say('ready')
}
