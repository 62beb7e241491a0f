// Runs inside the copy, as a child of run-tests.mjs: to start Vitest and to read all modules anew takes longer than most
// tests. Gets `{ tests, changed }`, answers `{ failed, isLate }`. Every run has workers of its own.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createVitest } from 'vitest/node'

/** What a test or hook says that waits for what does not come. */
const LATE = /timed out in \d+ms|did not succeed in time/

const failed = []
const reporter = { onTestModuleEnd: (module) => module.state() === 'failed' && failed.push(module) }
const vitest = await createVitest('test', { watch: false, bail: 1, testTimeout: 30_000, reporters: [reporter] })

process.on('message', async ({ tests, changed }) => process.send(await run(tests, changed)))
process.on('disconnect', () => process.exit())
process.send('ready')

async function run(tests, changed) {
  for (const file of changed) vitest.invalidateFile(resolve(file))
  // Bundles of the source as it was.
  if (process.env.TOOL_HUB_TEST_FOLDER !== undefined)
    rmSync(join(process.env.TOOL_HUB_TEST_FOLDER, 'modules'), { recursive: true, force: true })
  failed.length = 0
  const specifications = (await vitest.globTestSpecifications(tests)).filter(({ moduleId }) =>
    tests.some((test) => resolve(test) === moduleId),
  )
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const [first] = failed
  if (first !== undefined) return { failed: first.relativeModuleId, isLate: isLate(first) }
  return unhandledErrors.length > 0 ? { failed: '', isLate: false } : { isLate: false }
}

function isLate(module) {
  const tests = [...module.children.allTests('failed')]
  const errors = [...module.errors(), ...tests.flatMap((test) => test.result().errors ?? [])]
  return errors.some(({ message }) => LATE.test(message))
}
