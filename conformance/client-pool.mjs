// One process that runs the client for every scenario, some concurrently: creating a hub is fast, starting a process is not.
// Says its address on stdout; ends with its stdin.
import { createServer } from 'node:http'
import { readJson } from './client/read-json.mjs'
import { runClient } from './client/run-client.mjs'

const AT_ONCE = 8
const waiting = []
let running = 0

const server = createServer(async (request, response) => {
  const job = await readJson(request)
  await turn()
  try {
    response.end(JSON.stringify(await runClient(job)))
  } catch (error) {
    response.end(JSON.stringify([String(error?.stack ?? error)]))
  } finally {
    running--
    waiting.shift()?.()
  }
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.stdin.resume().once('end', () => process.exit(0))

async function turn() {
  while (running >= AT_ONCE) await new Promise((resolve) => waiting.push(resolve))
  running++
}
