// A memory provider for tool-hub over HTTP (protocol: docs/reference/memory.md), in plain Node, without persistence.
// node examples/memory-server.mjs               shows a hub that uses it, and exits
// MEMORY_TOKEN=… node examples/memory-server.mjs 8787   serves until Ctrl-C
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import { createToolHub } from 'tool-hub'

const MAX_BYTES = 200_000
const MAX_NOTES = 10_000

/** Serves POST /recall, /write, /update and /forget; refuses other requests, and requests without the token. */
export function createMemoryServer({ token }) {
  /** Notes by id, in the order in which they were written. */
  const notes = new Map()
  const routes = new Map([
    ['/recall', ({ query, keys, limit, tags }) => ({ notes: find(notes, { query, keys, limit, tags }) })],
    ['/write', (note) => write(notes, note)],
    ['/update', (change) => update(notes, change)],
    ['/forget', ({ id, key }) => ({ forgotten: notes.get(id)?.key === key && notes.delete(id) })],
  ])
  return createServer(async (request, response) => {
    const answer = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    try {
      if (!isAllowed(request.headers.authorization, token))
        return answer(401, refusal('Send the token as a bearer token.'))
      const route = request.method === 'POST' ? routes.get(request.url) : undefined
      if (!route) return answer(404, refusal('Unknown route.'))
      const result = route(JSON.parse(await readBody(request)))
      return result ? answer(200, result) : answer(404, refusal('Note not found.'))
    } catch (error) {
      return answer(400, refusal(error.message))
    }
  })
}

/** The same id is the same note, so a write that is repeated after a failure creates one note. */
function write(notes, { id, key, content, tags, origin }) {
  if (notes.size >= MAX_NOTES) throw new Error(`The limit of ${MAX_NOTES} notes is reached.`)
  if (!notes.has(id)) notes.set(id, { id, key, content, tags, createdAt: origin.at })
  return { id }
}

function update(notes, { id, key, content, tags }) {
  const note = notes.get(id)
  if (note?.key !== key) return undefined
  notes.set(id, { ...note, content: content ?? note.content, tags: tags ?? note.tags })
  return { id }
}

/** Only notes of the requested keys, because keys identify the owner. Notes with the most matching words come first. */
function find(notes, { query, keys, limit, tags }) {
  const words = query.toLowerCase().split(/\s+/)
  return [...notes.values()]
    .filter((note) => keys.includes(note.key) && (tags.length === 0 || tags.some((tag) => note.tags.includes(tag))))
    .map((note) => ({ ...note, score: words.filter((word) => note.content.toLowerCase().includes(word)).length }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

/** Compares hashes, which have equal length, so that the time reveals nothing. */
function isAllowed(header = '', token) {
  const hash = (text) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(header), hash(`Bearer ${token}`))
}

async function readBody(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`A body has at most ${MAX_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refusal(message) {
  return { error: { message } }
}

/** A hub whose agent writes a note and finds it again in another run. */
async function show() {
  const token = 'a-token-for-this-example'
  const server = createMemoryServer({ token })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  const hub = createToolHub({
    memory: { writeMode: 'external', provider: { url, secret: 'memory' } },
    secrets: { memory: { value: token, hosts: ['127.0.0.1'] } },
    policy: [{ allow: 'memory' }],
    runs: false,
  })
  const call = async (tool, input, run) => {
    const result = await hub.callDynamic(tool, input, { run })
    const text = result.ok ? result.content.map((block) => block.text).join('\n') : result.error.message
    console.log(`${tool}: ${text.trim()}`)
    return result
  }
  await call(
    'write_memory',
    { content: 'Releases are cut on Thursdays.', scope: 'shared', tags: ['release'] },
    'monday',
  )
  const { meta } = await call('recall_memory', { query: 'releases' }, 'tuesday')
  console.log('labels:', meta.labels)
  await call('recall_memory', { query: 'releases', scope: 'agent' }, 'tuesday')
  await hub.close()
  server.close()
  server.closeAllConnections()
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const port = process.argv[2]
  if (port === undefined) await show()
  else if (!process.env.MEMORY_TOKEN) throw new Error('Set MEMORY_TOKEN to the token that clients must send.')
  else createMemoryServer({ token: process.env.MEMORY_TOKEN }).listen(Number(port), '127.0.0.1')
}

// Prints, among other lines:
//   write_memory: Stored as note-
//   "Releases are cut on Thursdays."
//   labels: [ 'untrusted' ]
//   recall_memory: No matching notes.
