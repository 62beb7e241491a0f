// Runs the MCP conformance suite against a server and a client of tool-hub, for both protocol eras, and the MCP inspector
// against its tools. `--keep` keeps what they wrote, and says where.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inspectTools } from './run/inspect-tools.mjs'
import { printReport } from './run/print-report.mjs'
import { runSuite } from './run/run-suite.mjs'
import { startProgram } from './run/start-program.mjs'

const REVISIONS = ['2025-11-25', '2026-07-28']

const startedAt = performance.now()
const folder = await mkdtemp(join(tmpdir(), 'tool-hub-conformance-'))
const clientPool = startProgram('client-pool.mjs')
try {
  // The server's side mostly waits; the other two take turns, so that neither core is asked for more than it has.
  const sides = await Promise.all([
    ...REVISIONS.map(testServer),
    testClients().then(async (outcomes) => [...outcomes, ...(await inspectTools(folder))]),
  ])
  const hasPassed = printReport(sides.flat(), { seconds: (performance.now() - startedAt) / 1_000 })
  process.exitCode = hasPassed ? 0 : 1
} finally {
  await (await clientPool).stop()
  if (process.argv.includes('--keep')) console.error(`What they wrote is in ${folder}.`)
  else await rm(folder, { recursive: true, force: true })
}

/** Each revision has a server of its own: the suite changes its tools. */
async function testServer(revision) {
  const server = await startProgram('server.mjs')
  try {
    return await runSuite({ side: 'server', revision, how: ['--url', server.url], folder })
  } finally {
    await server.stop()
  }
}

async function testClients() {
  const { url } = await clientPool
  const { PATH } = process.env
  // The command is for a shell, which splits it: no path of this machine is in it.
  const env = { CONFORMANCE_CLIENT_POOL: url, PATH: `${dirname(process.execPath)}:${PATH}` }
  const outcomes = []
  for (const revision of REVISIONS) {
    outcomes.push(...(await runSuite({ side: 'client', revision, how: ['--command', 'node client.mjs'], env, folder })))
  }
  return outcomes
}
