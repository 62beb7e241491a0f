import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createToolHub } from '../../packages/tool-hub/dist/index.js'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const RUNS = 10_000
const CALLS_A_RUN = 3
const MAIN = fileURLToPath(new URL('../../packages/tool-hub/dist/cli/main.js', import.meta.url))
const TIME = '2026-01-01T00:00:00.000Z'

/** 10,000 closed runs of three calls: listed, looked through after a crash, and verified on one core and on all. */
export default async function runFolders({ rounds }) {
  return withTempFolder(async (folder) => {
    const runs = join(folder, 'runs')
    for (let n = 0; n < RUNS; n++) makeRun(runs, `run-20260101-${String(n).padStart(6, '0')}-1a2b3c4d`)
    const none = join(folder, 'none')
    mkdirSync(none)
    const hub = createToolHub({ runs, data: join(folder, 'data') })
    const audit = () => run(folder, ['audit', 'verify'], (text) => text.match(/^intact/gm)?.length >= RUNS)
    const samples = await measureInRounds(
      {
        start: () => run(none, ['runs', '--json']),
        list: () => run(folder, ['runs', '--json'], (text) => text.includes('run-20260101-009999')),
        recover: () => millisecondsOf(() => hub.recoverRuns()),
        audit,
        auditOnOne: () => onOneCore(audit),
      },
      { rounds, warmUps: 1 },
    )
    await hub.close()
    const listed = samples.list.map((list, round) => list - samples.start[round])
    // The goals are those for 100,000 runs, 2 s, divided by ten.
    return [
      figure('list', listed, { unit: 'ms', goal: 200 }),
      figure('look for runs to recover', samples.recover, { unit: 'ms', goal: 200 }),
      ratioFigure(`audit verify on ${availableParallelism()} cores : one`, samples.audit, samples.auditOnOne),
      figure('audit verify', samples.audit, { unit: 'ms' }),
    ]
  })
}

let isOnOne = false

async function onOneCore(work) {
  isOnOne = true
  try {
    return await work()
  } finally {
    isOnOne = false
  }
}

/** Milliseconds of a command; the output is checked, because a refusal would be fast. */
function run(cwd, args, isRight = () => true) {
  const [file, ...before] = isOnOne ? ['taskset', '-c', '0', process.execPath] : [process.execPath]
  return millisecondsOf(async () => {
    const { stdout } = await promisify(execFile)(file, [...before, MAIN, ...args], { cwd, maxBuffer: 2 ** 28 })
    if (!isRight(stdout)) throw new Error(`tool-hub ${args.join(' ')} printed ${stdout.slice(0, 200)}`)
  })
}

/** A run as the hub leaves it. */
function makeRun(root, run) {
  const folder = join(root, run)
  mkdirSync(join(folder, 'logs'), { recursive: true })
  let events = ''
  let tools = ''
  let seq = 0
  let hash = '0'.repeat(64)
  const add = (event) => {
    seq++
    const body = JSON.stringify(event).slice(1, -1)
    const sealed = `{"seq":${seq},"time":"${TIME}",${body},"prev":"${hash}"`
    hash = createHash('sha256').update(sealed).digest('hex')
    events += `${sealed},"hash":"${hash}"}\n`
  }
  add({ type: 'run-opened', run, pid: 1, durability: 'effects', after: null })
  for (let n = 0; n < CALLS_A_RUN; n++) {
    const call = {
      callId: `${run}-${n}`,
      tool: 'core/fs.readText',
      caller: 'bench',
      status: 'ok',
      durationMs: 1,
      bytes: 9,
    }
    add({ type: 'call-ended', ...call })
    tools += `${JSON.stringify({ seq, time: TIME, ...call })}\n`
  }
  add({ type: 'run-closed', calls: CALLS_A_RUN, failures: 0 })
  const sizes = { bytes: events.length, toolsBytes: tools.length, errorsBytes: 0 }
  const head = { run, seq, hash, ...sizes, calls: CALLS_A_RUN, failures: 0, started: TIME, ended: TIME }
  writeFileSync(join(folder, 'events.jsonl'), events)
  writeFileSync(join(folder, 'logs', 'tools.jsonl'), tools)
  writeFileSync(join(folder, 'logs', 'errors.jsonl'), '')
  writeFileSync(join(folder, 'head.json'), `${JSON.stringify(head)}\n`)
}
