import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'

/**
 * A hub in a process of its own: makes the calls and undos that it reads, one JSON a line, and prints what came of each.
 * `dieAfterRename` is the ending of a path: the process kills itself when something has got that name. `approveAll`:
 * somebody says yes to everything, as the bundle has no second parser of command lines, without which all are asked.
 */
const { dieAfterRename, approveAll, ...options } = JSON.parse(process.argv[2]!)
if (dieAfterRename !== undefined) dieAfter(dieAfterRename)

const remove = defineTool({
  name: 'test/remove',
  description: 'Removes a folder with all below it.',
  input: z.strictObject({ path: z.string() }),
  capabilities: ['write:fs', 'danger:destructive'],
  execute: ({ path }, { fs: files }) => files.remove(path, { recursive: true }),
})

const half = defineTool({
  name: 'test/half',
  description: 'Writes half a file, then waits for ever.',
  input: z.strictObject({}),
  capabilities: ['write:fs'],
  async execute(_, { fs: files }) {
    await files.writeBytes('sub/half.bin', endless())
    return 'never'
  },
})

async function* endless() {
  yield Buffer.alloc(1_000)
  say('half')
  await new Promise(() => setInterval(() => {}, 1_000))
}

const allowAll = [{ allow: 'write:fs' }, { allow: 'danger:destructive' }]
const approve = () => ({ decision: 'allow' as const, by: 'the test' })
const hub = createToolHub({ tools: [remove, half], policy: allowAll, ...(approveAll && { approve }), ...options })
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, input, undo } = JSON.parse(line)
  say(await (undo ? hub.undo(undo) : hub.callDynamic(tool, input)))
}
await hub.close()

function say(value: unknown): void {
  fs.writeSync(1, `${JSON.stringify(value)}\n`)
}

function dieAfter(ending: string): void {
  const rename = fs.renameSync
  fs.renameSync = (from, to) => {
    rename(from, to)
    if (String(to).endsWith(ending)) process.kill(process.pid, 'SIGKILL')
  }
  syncBuiltinESMExports()
}
