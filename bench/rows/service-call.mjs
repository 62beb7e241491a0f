import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool } from '../../node_modules/undici/index.js'
import { WebSocket } from '../../node_modules/ws/wrapper.mjs'
import { createClient } from '../../packages/tool-hub/dist/client.js'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const IN_FLIGHT = 64
const CALLS = 6_400

/** A governed and audited call over HTTP and WebSocket, 64 in flight, beside a bare Hono echo; each server is a process of its own. */
export default async function serviceCall({ rounds }) {
  return withTempFolder(async (folder) => {
    const [echo, hub] = await Promise.all([start('hono-echo.mjs'), start('tool-hub-serve.mjs', join(folder))])
    const [bare, served] = [echo, hub].map(({ url }) => new Pool(url, { connections: IN_FLIGHT }))
    const socket = await createClient({ url: hub.url, token: hub.token, WebSocket }).connect()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${hub.token}` }
    const post = async (pool, path, body) => {
      const response = await pool.request({ method: 'POST', path, headers, body })
      if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`)
      return response.body.json()
    }
    let count = 0
    const samples = await measureInRounds(
      {
        http: () =>
          inFlight(async () =>
            sumOf(
              await post(served, '/v1/tools/bench%2Fmath.add/call', JSON.stringify({ input: { a: ++count, b: 1 } })),
            ),
          ),
        ws: () => inFlight(async () => sumOf(await socket.call('bench/math.add', { a: ++count, b: 1 }))),
        bare: () => inFlight(() => post(bare, '/echo', JSON.stringify({ input: { a: ++count, b: 1 } }))),
      },
      { rounds },
    )
    await socket.close()
    await Promise.all([bare.close(), served.close()])
    for (const { child } of [echo, hub]) child.disconnect()
    return [
      ratioFigure('HTTP call : bare Hono echo (0.55 x its rate is 1.82)', samples.http, samples.bare, { goal: 1.82 }),
      ratioFigure('WebSocket call : HTTP call', samples.ws, samples.http, { goal: 0.5 }),
      figure('HTTP call', samples.http, { unit: 'us' }),
      figure('WebSocket call', samples.ws, { unit: 'us' }),
      figure('bare Hono echo', samples.bare, { unit: 'us' }),
    ]
  })
}

async function start(peer, ...args) {
  const child = fork(fileURLToPath(new URL(`../peers/${peer}`, import.meta.url)), args)
  const [facts] = await once(child, 'message')
  return { child, ...facts }
}

/** Microseconds a call, with so many under way all the time. */
async function inFlight(call) {
  let left = CALLS
  const start = performance.now()
  const worker = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  return ((performance.now() - start) * 1_000) / CALLS
}

function sumOf(result) {
  if (!result.ok) throw new Error(`${result.error.code} ${result.error.message}`)
  return result.data.sum
}
