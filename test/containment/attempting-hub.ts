import { writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import type { ToolResult } from '../../packages/core/src/call.ts'
import { type Order, type Outcome, type Task, wordsFor } from './order.ts'
import { processesNamed } from './processes.ts'

/**
 * A hub in a process of its own, as the user it is started as: runs the attempts that the first line of its input tells
 * of, some concurrently, and says what came of each, one JSON a line. It ends with its input, or is killed.
 */
const input = createInterface({ input: process.stdin }).on('close', () => process.exit())
const order = await new Promise<Order>((resolve) => input.once('line', (line) => resolve(JSON.parse(line))))
const { root, secondRoot, level, limits, secrets } = order
const hub = createToolHub({
  runs: join(root, 'runs'),
  data: join(root, '.tool-hub'),
  policy: [{ allow: 'exec' }],
  // The bundle has no second parser, and without it every line is asked.
  approve: () => ({ decision: 'allow', by: 'the test' }),
  sandbox: {
    root,
    roots: [{ path: secondRoot, mode: 'write' }],
    protect: [join(root, 'guarded/rules')],
    ...(level !== 'full' && { required: false, commands: { level } }),
  },
  limits: { commands: limits },
  secrets: { configured: { value: secrets.configured!, hosts: ['example.org'] } },
  redact: { values: [secrets.known!] },
})
const { weaknesses } = await hub.describeSandbox()
const hasCgroups = !weaknesses.some((line) => line.includes('no cgroup'))
const tasks = order.tasks.filter(({ machine }) => machine !== 'cgroups' || hasCgroups)
const alone = tasks.filter(({ before }) => before !== undefined)
const together = tasks.filter(({ before }) => before === undefined)
await Promise.all(Array.from({ length: order.atOnce }, runNext))
for (const task of alone) await runAfter(task)
for (const input of order.spoken) say({ name: 'spoken', result: await hub.callDynamic('core/exec.run', input) })
say({ name: 'done' })

async function runNext(): Promise<void> {
  for (let task = together.shift(); task; task = together.shift()) await run(task)
}

async function runAfter(task: Task): Promise<void> {
  const [what, name = ''] = task.before!.split(' ')
  if (what === 'first')
    await hub.callDynamic('core/exec.run', { argv: wordsFor(join(root, 'attempts', name)), cwd: root })
  if (what === 'plant') writeFileSync(join(root, name), `TOKEN=${secrets.late}\n`)
  const session = what === 'background' ? await startBackground(wordsFor(join(root, 'attempts', name))) : undefined
  if (what === 'kill') return void (await startBackground(task.argv))
  await run(task)
  if (session) await hub.callDynamic('core/exec.process', { action: 'kill', sessionId: session })
}

async function run({ name, argv, cwd, repeat }: Task): Promise<void> {
  for (let turn = 0; turn < repeat; turn++) {
    // The attempt then runs in a sandbox that has run another command before, if there is a sandbox.
    await hub.callDynamic('core/exec.run', { argv: ['true'], cwd })
    const result = await hub.callDynamic('core/exec.run', { argv, cwd, timeout: 200_000 })
    say({ name, result, left: processesNamed(`left-by-${name}-`, order.name) })
  }
}

/** Returns the session once the command has said that it is ready. */
async function startBackground(argv: readonly string[]): Promise<string> {
  const started = await hub.callDynamic('core/exec.run', { argv, cwd: root, background: true })
  const { sessionId } = dataOf(started)
  for (let timeout = 0; ; timeout = 10_000) {
    const polled = await hub.callDynamic('core/exec.process', { action: 'poll', sessionId, timeout })
    const { command } = dataOf(polled)
    if (command?.stdout.includes('ready')) return sessionId
    if (command?.status !== 'running') throw new Error(`${argv.join(' ')} did not start: ${JSON.stringify(polled)}`)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a tool gave, whichever it was
function dataOf(result: ToolResult): any {
  if (result.data === undefined) throw new Error(JSON.stringify(result))
  return result.data
}

function say(outcome: Outcome): void {
  writeSync(1, `${JSON.stringify(outcome)}\n`)
}
