// Measures the search for tools on public benchmarks: what is found, what a listing costs, and how long a query takes.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { createToolHub } from '../packages/tool-hub/dist/index.js'

const PLACES = [1, 5, 10]
/** Tools in the hub that queries are timed on. */
const MANY = 5_000
const SIZES = [30, 100, Number.POSITIVE_INFINITY]
const MAX_NAME = 64

/** The figures of every file in the folder `tool-search`; empty if the folder does not exist. */
export async function measureToolSearch(suites) {
  const folder = join(suites, 'tool-search')
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : []
  const report = {}
  for (const file of files.sort()) report[file.replace(/\.json$/, '')] = await measureFile(join(folder, file))
  return report
}

async function measureFile(file) {
  const data = readSuite(file)
  const hub = open(data.tools)
  try {
    const found = await measureRecall(hub, data)
    const untagged = await measureRecall(hub, data, ({ tags: _, ...card }) => ({
      ...card,
      parameters: { ...card.parameters },
    }))
    return {
      tools: data.tools.length,
      servers: new Set(data.tools.map(({ server }) => server)).size,
      ...found,
      untagged: untagged.hits,
      listings: SIZES.map((more) => measureListing(serversUpTo(data.tools, more))),
      isStable: listingIn(file) === listingIn(file, '--reversed') && listingIn(file) === listingHash(hub),
      ...(await measureTime(hub, data)),
    }
  } finally {
    await hub.close()
  }
}

/** Where a task has as many steps as tools, step `i` is the query for tool `i`; a tool of that name counts. */
async function measureRecall(hub, { tools, tasks }, change = (card) => card) {
  const cards = hub
    .cards({ all: true })
    .filter(({ tool }) => !tool.startsWith('core/'))
    .map(change)
  const wanted = new Map(nameAll(tools).map(({ name, tool }) => [name, tool.name]))
  const pairs = tasks
    .filter((task) => task.steps.length === task.tools.length)
    .flatMap((task) => task.steps.map((step, place) => [step, task.tools[place]]))
  const hits = PLACES.map(() => 0)
  for (const [step, tool] of pairs) {
    const { matches } = await hub.toolSearch.search(step, { tools: cards, limit: PLACES.at(-1) })
    const place = matches.findIndex((match) => wanted.get(match.tool) === tool)
    for (const [index, most] of PLACES.entries()) if (place !== -1 && place < most) hits[index]++
  }
  return { queries: pairs.length, hits: Object.fromEntries(PLACES.map((most, index) => [most, hits[index]])) }
}

/** What a model is shown of a hub with these tools, against the schemas of all its tools. */
function measureListing(tools) {
  const hub = open(tools)
  const all = tokensOf(hub.cards().filter(({ finds }) => finds === undefined))
  const shown = tokensOf(hub.registry.listForLLM())
  return { tools: tools.length, listed: shown, schemas: all, share: shown / all }
}

/** Whole servers in the order of the file, until there are more tools than this. */
function serversUpTo(tools, more) {
  const servers = [...new Set(tools.map(({ server }) => server))]
  const chosen = new Set()
  let count = 0
  for (const server of servers) {
    if (count > more) break
    chosen.add(server)
    count += tools.filter((tool) => tool.server === server).length
  }
  return tools.filter(({ server }) => chosen.has(server))
}

/** Queries of all steps on a hub with 5,000 tools: those of the file, as often as it takes. */
async function measureTime(hub, { tasks }) {
  const cards = hub.cards({ all: true }).filter(({ tool }) => !tool.startsWith('core/'))
  const many = Array.from({ length: MANY }, (_, place) => {
    const card = cards[place % cards.length]
    return { ...card, tool: `${card.tool}_${place}`, parameters: { ...card.parameters } }
  })
  const steps = tasks.flatMap((task) => task.steps)
  const started = performance.now()
  await hub.toolSearch.search('warm', { tools: many })
  const indexMs = performance.now() - started
  for (const step of steps) await hub.toolSearch.search(step, { tools: many })
  const times = []
  for (const step of steps) {
    const begun = performance.now()
    await hub.toolSearch.search(step, { tools: many })
    times.push(performance.now() - begun)
  }
  times.sort((one, other) => one - other)
  return { indexMs, queryMs: { median: times[times.length >> 1], p95: times[Math.floor(times.length * 0.95)] } }
}

function open(tools) {
  return createToolHub({ runs: false, tools: nameAll(tools).map(({ name, tool }) => toTool(name, tool)) })
}

function toTool(name, { description, inputSchema, server }) {
  const input = { ...inputSchema, type: 'object' }
  return { name, description: description ?? '', input, capabilities: [], tags: [server], execute: () => ({}) }
}

/** Names that a hub accepts: `server.tool`, each once. */
function nameAll(tools) {
  const taken = new Set()
  return tools.map((tool) => {
    const own = plain(tool.name).slice(0, MAX_NAME - 8)
    const server = `s-${plain(tool.server)}`.slice(0, MAX_NAME - own.length - 1)
    let name = `${server}.${own}`
    for (let again = 2; taken.has(name.replaceAll('.', '_').toLowerCase()); again++)
      name = `${server}.${own}`.slice(0, MAX_NAME - 3) + again
    taken.add(name.replaceAll('.', '_').toLowerCase())
    return { name, tool }
  })
}

function plain(text) {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '_')
}

/** The estimate of docs/reference/tool-search.md: four characters of ASCII are a token, and so is every other character. */
function tokensOf(tools) {
  const texts = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
  return texts.reduce((sum, text) => {
    const others = text.match(/[^\x00-\x7f]/gu)?.length ?? 0
    return sum + Math.ceil(text.replaceAll(/[^\x00-\x7f]/gu, '').length / 4) + others
  }, 0)
}

function listingHash(hub) {
  return createHash('sha256').update(JSON.stringify(hub.registry.listForLLM())).digest('hex')
}

/** The same listing in a process of its own. */
function listingIn(file, ...flags) {
  const args = [fileURLToPath(import.meta.url), file, ...flags]
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()
}

function readSuite(file) {
  const { tools, tasks } = JSON.parse(readFileSync(file, 'utf8'))
  const isTool = (tool) => [tool?.server, tool?.name].every((text) => typeof text === 'string')
  const isTask = (task) => Array.isArray(task?.steps) && Array.isArray(task?.tools)
  if (!Array.isArray(tools) || !Array.isArray(tasks) || !tools.every(isTool) || !tasks.every(isTask))
    throw new Error(`${file} needs tools: [{ server, name, description, inputSchema }] and tasks: [{ steps, tools }].`)
  return { tools, tasks }
}

/** The table of all files, as Markdown. */
export function toolSearchTable(report, share) {
  const lines = Object.entries(report).flatMap(([name, figures]) => {
    const { tools, servers, queries, hits, untagged, listings, isStable, indexMs, queryMs } = figures
    return [
      `| ${name} | tools, servers | ${tools}, ${servers} |`,
      ...PLACES.map(
        (most) => `| ${name} | recall@${most} | ${(hits[most] / queries).toFixed(3)}: ${share(hits[most], queries)} |`,
      ),
      `| ${name} | recall@5, servers in ASCII only | ${(untagged[5] / queries).toFixed(3)}: ${share(untagged[5], queries)} |`,
      ...listings.map(
        (each) =>
          `| ${name} | listing of a hub with ${each.tools} of them | ${each.listed} of ${each.schemas} tokens (${(100 * each.share).toFixed(1)} %) |`,
      ),
      `| ${name} | listing byte-equal in another process, and with the tools in another order | ${isStable ? 'yes' : 'no'} |`,
      `| ${name} | query with ${MANY} tools, median and 95th percentile | ${queryMs.median.toFixed(2)} ms, ${queryMs.p95.toFixed(2)} ms |`,
      `| ${name} | index of ${MANY} tools | ${indexMs.toFixed(0)} ms |`,
    ]
  })
  return ['| suite | measure | figure |', '|---|---|---|', ...lines].join('\n')
}

// As a program: prints the hash of the listing of a file.
if (argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file, flag] = argv
  const { tools } = readSuite(file)
  const named = nameAll(tools)
  const ordered = flag === '--reversed' ? [...named].reverse() : named
  const hub = createToolHub({ runs: false, tools: ordered.map(({ name, tool }) => toTool(name, tool)) })
  console.log(listingHash(hub))
  await hub.close()
}
