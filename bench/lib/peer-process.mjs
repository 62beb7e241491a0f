// Runs one contender: loads peers/<name>.mjs, whose default export makes the call, and measures as often as it is asked.
import { microsecondsEach } from './measure.mjs'

const [name, ...args] = process.argv.slice(2)
const { default: makeCall } = await import(`../peers/${name}.mjs`)
const call = await makeCall(...args)
process.on('message', async ({ calls }) => process.send({ microseconds: await microsecondsEach(calls, call) }))
process.on('disconnect', () => process.exit())
process.send('ready')
