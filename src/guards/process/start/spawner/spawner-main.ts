import { closeInherited } from '../../jail/close-inherited.ts'
import { parseHubMessage, type SpawnerMessage } from '../protocol.ts'
import { readLines } from '../read-lines.ts'
import { Cell } from './cell.ts'
import { openFifoStock } from './fifo-stock.ts'
import { openPipeStock, type PipeStock } from './pipe-stock.ts'

/** How long the last processes may take to go when the hub has gone. */
const FAREWELL_MS = 2_000

const cells = new Map<number, Cell>()
let stock: PipeStock | undefined
let isLeaving = false
const tell = (message: SpawnerMessage) => void process.stdout.write(`${JSON.stringify(message)}\n`)

closeInherited()
process.stdin.on('end', leave)
process.stdin.on('error', leave)
process.stdout.on('error', leave)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, leave)
// A defect here must not leave commands behind that nobody watches.
process.on('uncaughtException', leave)

stock = await openPipeStock().catch(openFifoStock)
readLines(process.stdin, obey)
tell({ type: 'hello' })

function obey(line: string): void {
  if (isLeaving) return
  const message = parseHubMessage(line)
  const { id } = message
  if (message.type === 'seed') {
    const cell = new Cell(message, tell)
    cells.set(id, cell)
    // It tells of its failures itself.
    return void cell.start(stock!)
  }
  const cell = cells.get(id)
  if (message.type === 'open') cell?.open(message)
  if (message.type === 'run') cell?.run(message)
  if (message.type === 'stop') cell?.stop(message.graceMs)
  if (message.type === 'taken' || message.type === 'forget') cell?.taken()
  if (message.type === 'forget') cells.delete(id)
}

/** The hub has gone, or we are broken: nothing of ours may stay. */
function leave(): void {
  isLeaving = true
  for (const cell of cells.values()) cell.leave()
  const until = Date.now() + FAREWELL_MS
  const wait = () => {
    if (Date.now() > until || ![...cells.values()].some((cell) => cell.isLiving)) {
      stock?.close()
      process.exit()
    }
    setTimeout(wait, 1)
  }
  wait()
}
