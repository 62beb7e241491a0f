// Puts the built service under load, kills it, and breaks what it stands on; see load/options.mjs for the flags.
import { rm } from 'node:fs/promises'
import { Checks } from '../load/checks.mjs'
import { runCluster } from '../load/cluster-part.mjs'
import { runFaults } from '../load/fault-part.mjs'
import { runKills } from '../load/kill-part.mjs'
import { runLoad } from '../load/load-part.mjs'
import { readOptions } from '../load/options.mjs'
import { runScripts } from '../load/script-part.mjs'
import { makeServiceFolder } from '../load/service-folder.mjs'

const RUN = { load: runLoad, kills: runKills, faults: runFaults, scripts: runScripts, cluster: runCluster }

const options = readOptions(process.argv.slice(2))
const checks = new Checks()
for (const part of options.parts) {
  const startedAt = performance.now()
  const folder = await makeServiceFolder()
  console.log(`${part} (${folder})`)
  await checks.try(part, () => RUN[part](checks, folder, options))
  if (!options.keep) await rm(folder, { recursive: true, force: true })
  console.log(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
const isRight = checks.finish()
// What a failure left open must not keep it from ending.
process.exit(isRight ? 0 : 1)
