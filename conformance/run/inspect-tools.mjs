import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from './run-to-end.mjs'

const HOME = join(import.meta.dirname, '..')
const LAUNCHER = join(HOME, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')
const CLI = join(HOME, '../packages/tool-hub/dist/cli/main.js')
/** Those that have tools of ours. */
const FILLED = ['coding', 'full']
const PROFILES = ['minimal', 'messaging', ...FILLED]
/** The first is the profile's own. */
const DIALECTS = [undefined, 'coding', 'files']
const CONFIG = 'servers.json'
const ASKED = ['--method', 'tools/list', '--strict', '--protocol-era', 'auto', '--format', 'json']
const AT_ONCE = 2

/** Has the inspector look at the tools of each profile in each dialect, as `tool-hub mcp` serves them. */
export async function inspectTools(folder) {
  const place = join(folder, 'inspector')
  const cases = PROFILES.flatMap((profile) => DIALECTS.map((dialect) => toCase(profile, dialect)))
  await mkdir(place)
  for (const profile of PROFILES) {
    await writeFile(join(place, `${profile}.yaml`), `version: 1\ntools: { profile: ${profile} }\nruns: false\n`)
  }
  const mcpServers = Object.fromEntries(cases.map(({ name, args }) => [name, toServer(args, place)]))
  await writeFile(join(place, CONFIG), JSON.stringify({ mcpServers }))
  const left = cases.values()
  const outcomes = []
  const work = async () => {
    for (const each of left) outcomes.push(await inspect(each, place))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcomes
}

function toCase(profile, dialect) {
  const args = ['mcp', '--config', `${profile}.yaml`, ...(dialect ? ['--dialect', dialect] : [])]
  return { name: `profile ${profile}, dialect ${dialect ?? 'of its own'}`, args, hasTools: FILLED.includes(profile) }
}

function toServer(args, cwd) {
  return { command: process.execPath, args: [CLI, ...args], cwd }
}

async function inspect({ name, hasTools }, place) {
  const { status, said, output } = await runToEnd([LAUNCHER, '--cli', '--config', CONFIG, '--server', name, ...ASKED], {
    cwd: place,
    env: { MCP_INSPECTOR_SECRET_STORE: 'memory' },
    keepsOutput: true,
  })
  const failures = problems(said, 'Error')
  if (status !== 0) failures.push(`exit ${status}: ${said.slice(-500)}`)
  else if (hasTools && countTools(output) === 0) failures.push('there are no tools')
  return { area: 'inspector', name, isRequired: true, failures, warnings: problems(said, 'Warning') }
}

/** Of each problem of a kind: which tool, where, what. */
function problems(said, kind) {
  const found = said.matchAll(new RegExp(`^${kind}: tool "(.*)"\\n  Path: (.*)\\n  Issue: (.*)$`, 'gm'))
  return [...found].map(([, tool, path, issue]) => `${tool} ${path}: ${issue}`)
}

function countTools(output) {
  const { tools, result } = JSON.parse(output)
  return (tools ?? result?.tools ?? []).length
}
