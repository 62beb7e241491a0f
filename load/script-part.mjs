import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { auditVerify } from './audit-verify.mjs'
import { checkEffects } from './effects.mjs'
import { endOpenRuns } from './end-open-runs.mjs'
import { readRecords } from './read-records.mjs'

const PROCESS = fileURLToPath(new URL('script-process.mjs', import.meta.url))
const AT_ONCE = 16
const STEPS = 20
const MAX_LIFE_MS = 20_000
const MAX_LINE_BYTES = 1_024

/**
 * Scripts that wait for people, in processes that are killed at any moment: while scripts run, are suspended, are
 * continued, and right after a side effect. Each process answers what earlier ones left, and continues their scripts.
 */
export async function runScripts(checks, folder, { suspends, random = Math.random }) {
  const scripts = new Scripts()
  let processes = 0
  for (; scripts.crossings < suspends; processes++)
    await liveOnce(folder, scripts, { start: scripts.begin(), ...chooseDeath(random) })
  for (let tries = 0; tries < 20 && scripts.open.length > 0; tries++) await liveOnce(folder, scripts, { start: [] })
  const { ended, lost, unheard, crossings, problems, open } = scripts
  checks.that(
    `${crossings} times a script was suspended, its process killed, and another one continued it`,
    crossings >= suspends && open.length === 0 && problems.length === 0,
    problems.length > 0 || open.length > 0
      ? [...problems, ...open.map((name) => `${name} never ended`)]
      : `${processes} processes, ${ended.size + unheard.size} scripts, ${lost.size} more never waited`,
  )
  await checkScripts(checks, folder, scripts)
  checkLedger(checks, folder)
  await endOpenRuns(folder)
  const calls = await readRecords(folder)
  calls.checkEnds(checks)
  await auditVerify(checks, folder)
}

/** What the processes said of all scripts. */
class Scripts {
  #number = 0
  /** The process that suspended each script last. */
  #suspendedBy = new Map()
  /** Processes that did not end by themselves. */
  killed = new Set()
  #begun = new Set()
  ended = new Map()
  /** Scripts that were never suspended when their process was killed. */
  lost = new Set()
  /** Scripts that completed in a process that was killed before it could say their value. */
  unheard = new Set()
  problems = []
  crossings = 0

  get open() {
    return [...this.#begun].filter((name) => ![this.ended, this.lost, this.unheard].some((known) => known.has(name)))
  }

  /** Names of new scripts, so that there are always as many at the same time. */
  begin() {
    const names = Array.from({ length: AT_ONCE - this.open.length }, () => `s${++this.#number}`)
    for (const name of names) this.#begun.add(name)
    return names
  }

  hear({ type, pid, name, status, value, kind, message, problem, continued }) {
    if (type === 'gone') this.#hearGone(name, status)
    if (type !== 'script') return
    const before = this.#suspendedBy.get(name)
    if (continued && status !== 'running') {
      if (this.killed.has(before)) this.crossings++
      this.#suspendedBy.delete(name)
    }
    if (status === 'suspended') this.#suspendedBy.set(name, pid)
    else if (status === 'completed') this.ended.set(name, value)
    else if (status !== 'running') this.problems.push(`${name}: ${status} ${kind} ${message} ${problem}`)
  }

  #hearGone(name, status) {
    if (status === 'lost') this.lost.add(name)
    else if (status === 'completed') this.unheard.add(name)
    else this.problems.push(`${name}: ${status}`)
  }
}

/** When a process is killed: right after a side effect, when it has said so much about scripts, or at any time. */
function chooseDeath(random) {
  const kind = random()
  if (kind < 0.3) return { dieAfterEffects: 1 + Math.floor(random() * AT_ONCE * STEPS * 0.4) }
  if (kind < 0.9) return { dieAfterReports: 1 + Math.floor(random() * AT_ONCE), laterMs: random() * 20 }
  return { lifeMs: random() * 2_000 }
}

async function liveOnce(folder, scripts, { start, dieAfterEffects, dieAfterReports, laterMs, lifeMs = MAX_LIFE_MS }) {
  const known = scripts.open.filter((name) => !start.includes(name))
  const settings = JSON.stringify({ start, known, dieAfterEffects })
  const child = spawn(process.execPath, [PROCESS, folder, settings], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const kill = () => child.kill('SIGKILL')
  const timers = []
  let reports = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line)
    scripts.hear(event)
    if (event.type === 'ready') timers.push(setTimeout(kill, lifeMs))
    if (event.type === 'script' && ++reports === dieAfterReports) timers.push(setTimeout(kill, laterMs))
  }
  const [code, signal] = await closed
  if (signal === 'SIGKILL') scripts.killed.add(child.pid)
  else if (code !== 0) throw new Error(`A process ended with ${code ?? signal}.`)
  for (const timer of timers) clearTimeout(timer)
}

async function checkScripts(checks, folder, { ended }) {
  const effects = await checkEffects(checks, join(folder, 'files', 'effects.log'))
  const wrong = [...ended].filter(([, ends]) => new Set(ends.map(([key]) => key)).size !== STEPS)
  checks.none(`each of ${ended.size} scripts got an answer to each of its ${STEPS} calls`, wrong)
  const answers = [...ended.values()].flat()
  const missing = answers.filter(([key, end]) => end === 'ok' && effects.get(key) !== 1)
  checks.none('every acknowledged call has had its side effect', missing)
  const unknown = answers.filter(([, end]) => end === 'CONFLICT').length
  const other = answers.filter(([, end]) => end !== 'ok' && end !== 'CONFLICT')
  checks.none(`a call that was killed while it ran says so (${unknown} of ${answers.length})`, other)
}

/** What the store keeps of each call of a script. */
function checkLedger(checks, folder) {
  const database = new DatabaseSync(join(folder, '.tool-hub', 'store.db'), { readOnly: true })
  const rows = database.prepare('SELECT * FROM script_calls').all()
  database.close()
  const sizes = rows.map((row) => JSON.stringify(Object.values(row)).length)
  const largest = Math.max(...sizes)
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  checks.that(
    'a line of the ledger has at most 1 KB',
    rows.length > 0 && largest <= MAX_LINE_BYTES,
    `${rows.length} lines, ${mean.toFixed(0)} bytes on average, ${largest} at most`,
  )
}
