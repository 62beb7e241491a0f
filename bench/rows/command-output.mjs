import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { commandHub } from '../lib/commands.mjs'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const BYTES = 100_000_000
const LINE = 'the quick brown fox jumps over the lazy dog'
const COMMAND = `yes '${LINE}' | head -c ${BYTES}`

/** 100 MB of output: kept whole, searched for secrets, hashed, with a flat memory; piping it to a file as the floor. */
export default async function commandOutput({ rounds }) {
  return withTempFolder(async (folder) => {
    const hub = await commandHub(folder, { rules: [{ allow: 'exec' }] })
    const rises = []
    const samples = await measureInRounds(
      {
        ours: async () => {
          const watch = watchMemory()
          const cost = await millisecondsOf(() => runOurs(hub))
          rises.push(watch.rise())
          return cost
        },
        piped: () => millisecondsOf(() => pipeToFile(join(folder, 'piped'))),
      },
      { rounds, warmUps: 2 },
    )
    await hub.close()
    return [
      ratioFigure('governed : piped to a file', samples.ours, samples.piped, { goal: 2 }),
      figure('memory rise of the hub', rises.slice(-rounds), { unit: 'MB', goal: 30 }),
      figure('governed', samples.ours, { unit: 'ms' }),
      figure('piped to a file', samples.piped, { unit: 'ms' }),
    ]
  })
}

async function runOurs(hub) {
  const result = await hub.call('core/exec.run', { command: COMMAND })
  if (!result.ok) throw new Error(result.error.message)
  const [artifact] = result.artifacts
  if (artifact?.bytes !== BYTES) throw new Error(`kept ${artifact?.bytes} bytes`)
}

async function pipeToFile(path) {
  const child = spawn('bash', ['-c', COMMAND], { stdio: ['ignore', 'pipe', 'inherit'] })
  await Promise.all([pipeline(child.stdout, createWriteStream(path)), once(child, 'close')])
}

function watchMemory() {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let highest = before
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss())
  }, 5)
  return {
    rise() {
      clearInterval(timer)
      return (Math.max(highest, process.memoryUsage.rss()) - before) / 1e6
    },
  }
}
