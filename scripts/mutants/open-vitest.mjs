// Runs inside the copy, as a child of run-tests.mjs: to start Vitest and to read all modules anew takes longer than most
// tests. Gets `{ tests, changed }`, answers `{ failed, isLate, hasEnded }`. Every run has workers of its own.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createVitest } from 'vitest/node'

/** What a test or hook says that waits for what does not come. */
const LATE = /timed out in \d+ms|did not succeed in time/
const LIMIT_MS = 30_000
/** Hooks that clean up may wait for what never comes. */
const GRACE_MS = 10_000

/** Called with the first module that fails in a run, and its errors. */
let onFailure
const reporter = {
  onTestCaseResult(test) {
    if (test.result().state === 'failed') onFailure?.(test.module, test.result().errors)
  },
  onTestModuleEnd(module) {
    if (module.state() === 'failed') onFailure?.(module, module.errors())
  },
}
const limits = { testTimeout: LIMIT_MS, hookTimeout: LIMIT_MS }
const vitest = await createVitest('test', { watch: false, bail: 1, ...limits, reporters: [reporter] })

process.on('message', async ({ tests, changed }) => process.send(await run(tests, changed)))
process.on('disconnect', () => process.exit())
process.send('ready')

async function run(tests, changed) {
  for (const file of changed) vitest.invalidateFile(resolve(file))
  // Bundles of the source as it was.
  if (process.env.TOOL_HUB_TEST_FOLDER !== undefined)
    rmSync(join(process.env.TOOL_HUB_TEST_FOLDER, 'modules'), { recursive: true, force: true })
  const specifications = (await vitest.globTestSpecifications(tests)).filter(({ moduleId }) =>
    tests.some((test) => resolve(test) === moduleId),
  )
  let failure
  const cut = new Promise((settle) => {
    onFailure = (module, errors) => {
      failure ??= { failed: module.relativeModuleId, isLate: errors.some(({ message }) => LATE.test(message)) }
      setTimeout(() => settle({ ...failure, hasEnded: true }), GRACE_MS).unref()
    }
  })
  return Promise.race([cut, runAll()])

  async function runAll() {
    const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
    return failure ?? { failed: unhandledErrors.length > 0 ? '' : undefined, isLate: false }
  }
}
