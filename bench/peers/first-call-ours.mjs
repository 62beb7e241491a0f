// A process from its start to the result of its first call, with records.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { createToolHub, defineTool } from '../../packages/tool-hub/dist/index.js'

const add = defineTool({
  name: 'bench/math.add',
  description: 'Add two whole numbers.',
  input: z.strictObject({ a: z.int(), b: z.int() }),
  output: z.strictObject({ sum: z.int() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const runs = mkdtempSync(join(tmpdir(), 'tool-hub-first-call-'))
const hub = createToolHub({ tools: [add], runs, data: runs })
const { data } = await hub.call(add, { a: 1, b: 2 })
await hub.close()
rmSync(runs, { recursive: true })
if (data?.sum !== 3) throw new Error('The first call failed.')
