import { createStarter } from '../../src/guards/process/start/create-starter.ts'
import type { StartOrder } from '../../src/guards/process/start/started.ts'

/** A hub that starts the commands it is told, says so, and waits to be killed. */
const orders: StartOrder[] = JSON.parse(process.argv[2]!)
const starter = createStarter()
for (const order of orders) {
  const started = await starter.start(order, new AbortController().signal)
  await new Promise((resolve) => started.stdout.once('data', resolve))
}
process.stdout.write('up\n')
setInterval(() => {}, 1_000)
