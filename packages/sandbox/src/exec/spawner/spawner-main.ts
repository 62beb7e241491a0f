import { forEachLine, parseHubMessage, type RunMessage, type SpawnerMessage, writeLine } from '../start/protocol.ts'
import { closeInherited, openFifoSupply, openPipeSupply, type PipeSupply } from './command-pipes.ts'
import { SpawnedSandbox } from './spawned-sandbox.ts'

/** How long the last processes may take to exit after the hub is gone. */
const EXIT_TIMEOUT_MS = 2_000

const sandboxes = new Map<number, SpawnedSandbox>()
let supply: PipeSupply | undefined
let isExiting = false
const send = (message: SpawnerMessage) => writeLine(process.stdout, message)

closeInherited()
process.stdin.on('end', exit)
process.stdin.on('error', exit)
process.stdout.on('error', exit)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, exit)
// A defect here must not leave commands behind that nobody watches.
process.on('uncaughtException', exit)

supply = await openPipeSupply().catch(openFifoSupply)
forEachLine(process.stdin, receive)
send({ type: 'hello' })

function receive(line: string): void {
  if (isExiting) return
  const message = parseHubMessage(line)
  if (message.type === 'prewarm') {
    const sandbox = new SpawnedSandbox(message, send)
    sandboxes.set(message.id, sandbox)
    return void sandbox.start(supply!)
  }
  const sandbox = sandboxes.get(message.id)
  if (message.type === 'open') sandbox?.open(message)
  if (message.type === 'run') run(message)
  if (message.type === 'stop') sandbox?.stop(message.id, message.graceMs)
  if (message.type === 'connected' || message.type === 'release') sandbox?.connected(message.id)
  if (message.type === 'release') sandboxes.delete(message.id)
}

function run(message: RunMessage): void {
  const sandbox = sandboxes.get(message.id)
  if (!sandbox) return
  if (message.nextId !== undefined) sandboxes.set(message.nextId, sandbox)
  sandbox.run(message)
}

/** The hub is gone, or this process is broken: none of our processes may stay. */
function exit(): void {
  isExiting = true
  for (const sandbox of sandboxes.values()) sandbox.kill()
  const until = Date.now() + EXIT_TIMEOUT_MS
  const wait = () => {
    if (Date.now() > until || ![...sandboxes.values()].some((sandbox) => sandbox.killRemaining())) {
      supply?.close()
      process.exit()
    }
    setTimeout(wait, 1)
  }
  wait()
}
