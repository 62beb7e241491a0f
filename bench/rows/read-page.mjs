import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, open, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const BYTES = 200_000_000
const FIRST_LINE = 500_000
const LINES = 51
const FRESH = fileURLToPath(new URL('../peers/fresh-page.mjs', import.meta.url))

/**
 * Lines from the middle of a 200 MB log: the first time the file is scanned, then an index knows the way. Also in a fresh
 * process, whose first call it is, beside a fresh process that scans.
 */
export default async function readPage({ rounds }) {
  return withTempFolder(async (folder) => {
    const root = join(folder, 'project')
    await mkdir(root)
    const path = join(root, 'big.log')
    await writeLog(path)
    const hub = projectHub({ runs: join(folder, 'runs'), root })
    const page = () => millisecondsOf(() => readMiddle(hub))
    const before = process.memoryUsage.rss()
    await page()
    const riseMb = (process.memoryUsage.rss() - before) / 1e6
    let touches = 0
    const samples = await measureInRounds(
      {
        scan: () => millisecondsOf(() => countLines(path)),
        async first() {
          // A file that was touched is another file to the index, which trusts none that was touched just now.
          await utimes(path, new Date(), new Date(1e12 + ++touches * 1_000))
          await new Promise((resolve) => setTimeout(resolve, 200))
          return page()
        },
        again: page,
        freshPage: () => millisecondsInFresh('page', root, join(folder, 'fresh-runs')),
        freshScan: () => millisecondsInFresh('scan', root, ''),
      },
      { rounds, warmUps: 1 },
    )
    await hub.close()
    return [
      ratioFigure('first page : plain scan', samples.first, samples.scan, { goal: 1.3 }),
      ratioFigure('next page : plain scan', samples.again, samples.scan, { goal: 0.05 }),
      ratioFigure('first page in a fresh process : fresh scan', samples.freshPage, samples.freshScan, { goal: 1.3 }),
      figure('RSS rise', [riseMb], { unit: 'MB', goal: 20 }),
      figure('first page', samples.first, { unit: 'ms' }),
      figure('next page', samples.again, { unit: 'ms' }),
      figure('plain scan', samples.scan, { unit: 'ms' }),
    ]
  })
}

/** What the process itself measures, from before its first call until the page is there; its start and its imports are not part of it. */
function millisecondsInFresh(what, root, runs) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [FRESH, what, root, runs], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`a fresh ${what} ended with ${status}: ${stderr}`)
  return Number(stdout)
}

async function readMiddle(hub) {
  const { text } = await dataOf(hub.call('read', { path: 'big.log', offset: FIRST_LINE, limit: LINES }))
  if (!text.startsWith(`line ${FIRST_LINE} `)) throw new Error(`unexpected page: ${text.slice(0, 60)}`)
}

/** What nobody can do without: every byte read once, every line end counted. */
export async function countLines(path) {
  const file = await open(path)
  const chunk = Buffer.allocUnsafe(1 << 20)
  let lines = 0
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length)
    if (bytesRead === 0) break
    const part = chunk.subarray(0, bytesRead)
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) lines++
  }
  await file.close()
  return lines
}

async function writeLog(path) {
  const stream = createWriteStream(path)
  let bytes = 0
  for (let line = 1; bytes < BYTES; ) {
    let block = ''
    for (let end = line + 10_000; line < end; line++) block += `line ${line} ${'x'.repeat(80 + (line % 100))}\n`
    bytes += block.length
    if (!stream.write(block)) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'finish')
}
