import { spawn } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isolatedCommand } from './isolation.mjs'

/** A mutant that makes a loop endless never ends by itself. */
const limitMs = (tests) => 60_000 + 20_000 * tests.length

/**
 * Runs test files of a copy in one Vitest that stays open. `run(tests)` runs them until one fails: `failed` is its name,
 * `''` if the run fails as a whole, `undefined` if all pass; `isLate` if it did not end in time. `changed(file)` before it.
 */
export function openTests(copy) {
  const script = join(copy, 'open-vitest.mjs')
  copyFileSync(fileURLToPath(import.meta.resolve('./open-vitest.mjs')), script)
  const changed = new Set()
  let child
  const close = () => {
    child?.stop()
    child = undefined
  }
  // Before the copy is removed.
  process.prependOnceListener('exit', close)
  return { run, close, changed: (file) => changed.add(file) }

  async function run(tests) {
    child ??= start(copy, script)
    const answer = await child.ask({ tests, changed: [...changed] }, limitMs(tests))
    changed.clear()
    if (answer.hasEnded) close()
    return answer
  }
}

function start(copy, script) {
  const { command, temporary } = isolatedCommand(copy, [process.execPath, script])
  // Not the folder of the test run that this one is part of.
  const { TOOL_HUB_TEST_FOLDER: _, ...env } = process.env
  const child = spawn(command[0], command.slice(1), {
    cwd: copy,
    // A group of its own: workers in an endless loop end with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...env, CI: '1', TMPDIR: temporary, NODE_ENV: 'test', TEST: 'true', VITEST: 'true' },
  })
  const hasEnded = new Promise((resolve) =>
    child.once('exit', () => resolve({ failed: '', isLate: false, hasEnded: true })),
  )
  const nextMessage = () => new Promise((resolve) => child.once('message', resolve))
  const isReady = nextMessage()
  return { ask, stop }

  async function ask(question, limit) {
    const isLate = after(limit, { failed: '', isLate: true, hasEnded: true })
    try {
      await Promise.race([isReady, hasEnded])
      const answer = nextMessage()
      if (child.connected) child.send(question)
      return await Promise.race([answer, hasEnded, isLate.promise])
    } finally {
      isLate.cancel()
    }
  }

  function stop() {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
  }
}

function after(ms, value) {
  let timer
  const promise = new Promise((resolve) => {
    timer = setTimeout(() => resolve(value), ms)
  })
  return { promise, cancel: () => clearTimeout(timer) }
}
