import { writeSync } from 'node:fs'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'

/** Calls tools with and without effects until somebody kills it; prints the id of every call that came back. */
const effect = defineTool({
  name: 'kill.effect',
  description: 'Has an effect, for tests.',
  input: z.strictObject({ n: z.int() }),
  capabilities: ['remote'],
  execute: async ({ n }) => n,
})
const pure = defineTool({
  name: 'kill.pure',
  description: 'Has none, for tests.',
  input: z.strictObject({ n: z.int() }),
  execute: ({ n }) => n,
})
const hub = createToolHub({
  tools: [effect, pure],
  runs: process.argv[2],
  run: 'victim',
  policy: [{ allow: 'remote' }],
})
for (let n = 0; ; n++) {
  const results = await Promise.all([hub.call(pure, { n }), hub.call(effect, { n }), hub.call(pure, { n })])
  for (const { callId } of results) writeSync(1, `${callId}\n`)
}
