import { createStarter, type StartRequest } from '../../packages/sandbox/src/exec/start/starter.ts'

/** A hub that starts the given commands, reports it, and waits to be killed. */
const orders: StartRequest[] = JSON.parse(process.argv[2]!)
const starter = createStarter()
for (const order of orders) {
  const started = await starter.start(order, new AbortController().signal)
  await new Promise((resolve) => started.stdout.once('data', resolve))
}
process.stdout.write('up\n')
setInterval(() => {}, 1_000)
