import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const MAIN = fileURLToPath(new URL('../../packages/tool-hub/dist/cli/main.js', import.meta.url))
const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
}

/** From nothing to an answer to tools/list, beside the reference file server. */
export default async function mcpStart({ rounds }) {
  return withTempFolder(async (folder) => {
    const filesystem = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'))
    await writeFile(join(folder, 'tool-hub.yaml'), 'version: 1\n')
    const { ours, theirs, bare } = await measureInRounds(
      {
        ours: () => millisecondsToList([MAIN, 'mcp', '--root', folder], folder),
        theirs: () => millisecondsToList([filesystem, folder], folder),
        bare: () =>
          millisecondsToList([fileURLToPath(new URL('../peers/bare-mcp-stdio.mjs', import.meta.url))], folder),
      },
      { rounds, warmUps: 2 },
    )
    return [
      ratioFigure('tool-hub mcp : server-filesystem', ours, theirs, { goal: 1.2 }),
      figure('tool-hub mcp', ours, { unit: 'ms' }),
      figure('server-filesystem', theirs, { unit: 'ms' }),
      figure('bare SDK', bare, { unit: 'ms' }),
    ]
  })
}

async function millisecondsToList(args, cwd) {
  const start = performance.now()
  const child = spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  send({ id: 1, ...INITIALIZE })
  await answerTo(lines, 1)
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/list' })
  const { result } = await answerTo(lines, 2)
  if (!(result.tools.length > 0)) throw new Error('it has no tools')
  const milliseconds = performance.now() - start
  child.kill('SIGKILL')
  return milliseconds
}

async function answerTo(lines, id) {
  for (;;) {
    const { value, done } = await lines.next()
    if (done) throw new Error('it ended without an answer')
    const message = JSON.parse(value)
    if (message.id === id) return message
  }
}
