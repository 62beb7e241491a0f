import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 400
const AT_ONCE = 64

/** Fetches 10 KB on loopback through the whole pipeline, compared with undici, alone and 64 concurrent. */
export default async function fetchText({ rounds }) {
  return withTempFolder(async (folder) => {
    const server = fork(fileURLToPath(new URL('../lib/text-server.mjs', import.meta.url)))
    const [{ port }] = await once(server, 'message')
    const url = `http://127.0.0.1:${port}/`
    const hub = projectHub({ runs: join(folder, 'runs'), root: folder })
    const ours = async () => check((await dataOf(hub.call('core/http.fetchText', { url }))).text)
    const undici = async () => check(await (await request(url)).body.text())
    const samples = await measureInRounds(
      {
        ours: () => microsecondsEach(CALLS, ours),
        undici: () => microsecondsEach(CALLS, undici),
        oursAtOnce: () => microsecondsEach(CALLS / 10, () => atOnce(ours)),
        undiciAtOnce: () => microsecondsEach(CALLS / 10, () => atOnce(undici)),
      },
      { rounds },
    )
    await hub.close()
    server.disconnect()
    return [
      ratioFigure('governed : undici.request, one by one', samples.ours, samples.undici, { goal: 1.4 }),
      ratioFigure('governed : undici.request, 64 concurrent', samples.oursAtOnce, samples.undiciAtOnce, { goal: 1.8 }),
      figure('governed', samples.ours, { unit: 'us' }),
      figure('undici', samples.undici, { unit: 'us' }),
      figure('governed, 64 concurrent', samples.oursAtOnce, { unit: 'us' }),
      figure('undici, 64 concurrent', samples.undiciAtOnce, { unit: 'us' }),
    ]
  })
}

function atOnce(call) {
  return Promise.all(Array.from({ length: AT_ONCE }, call))
}

function check(text) {
  if (text.length !== 10_240) throw new Error(`expected 10240 characters, got ${text.length}`)
}
