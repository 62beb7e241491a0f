// What the suite starts for each scenario, with the address of its server: hands it to the client pool, or runs it alone.
import { request } from 'node:http'
import { readJson } from './client/read-json.mjs'

const { CONFORMANCE_CLIENT_POOL, MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT = '{}' } = process.env
const job = { url: process.argv.at(-1), scenario, context: JSON.parse(MCP_CONFORMANCE_CONTEXT) }
const lines = await (CONFORMANCE_CLIENT_POOL ? askPool(CONFORMANCE_CLIENT_POOL) : runAlone())
console.error(lines.join('\n'))

async function runAlone() {
  const { runClient } = await import('./client/run-client.mjs')
  return runClient(job)
}

async function askPool(url) {
  const response = await new Promise((resolve, reject) => {
    request(url, { method: 'POST' }, resolve).on('error', reject).end(JSON.stringify(job))
  })
  return readJson(response)
}
