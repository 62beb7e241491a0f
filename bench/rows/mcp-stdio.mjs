import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { connectStdio, echo, peerFile } from '../lib/mcp-stdio.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 1_000
const READS = 300
const TEXT = `${'0123456789abcdef '.repeat(6)}\n`.repeat(100).slice(0, 10_240)
const MAIN = fileURLToPath(new URL('../../packages/tool-hub/dist/cli/main.js', import.meta.url))

/** A call over stdio with the whole road in it, beside the bare SDK; and a file of 10 KB beside the reference server. */
export default async function mcpStdio({ rounds }) {
  return withTempFolder(async (folder) => {
    const root = join(folder, 'project')
    await mkdir(root)
    const path = join(root, 'notes.txt')
    await writeFile(path, TEXT)
    const config = join(folder, 'tool-hub.yaml')
    await writeFile(config, `version: 1\nruns: ${folder}/runs\ndata: ${folder}/data\n`)
    const filesystem = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'))
    const [ours, bare, files, server] = await Promise.all([
      connectStdio([peerFile('tool-hub-mcp-stdio'), join(folder, 'echo')]),
      connectStdio([peerFile('bare-mcp-stdio')]),
      connectStdio([MAIN, 'mcp', '--root', root, '--config', config]),
      connectStdio([filesystem, root]),
    ])
    let count = 0
    const samples = await measureInRounds(
      {
        ours: () => microsecondsEach(CALLS, () => echo(ours, 'echo', `say ${++count}`)),
        bare: () => microsecondsEach(CALLS, () => echo(bare, 'echo', `say ${++count}`)),
        read: () => microsecondsEach(READS, () => read(files, 'core_fs_readText', { path: 'notes.txt' })),
        theirs: () => microsecondsEach(READS, () => read(server, 'read_text_file', { path })),
      },
      { rounds },
    )
    await Promise.all([ours, bare, files, server].map((client) => client.close()))
    return [
      ratioFigure('governed call : bare SDK', samples.ours, samples.bare, { goal: 1.15 }),
      ratioFigure('read 10 KB : server-filesystem', samples.read, samples.theirs, { goal: 0.9 }),
      figure('governed call', samples.ours, { unit: 'us' }),
      figure('bare SDK', samples.bare, { unit: 'us' }),
      figure('read 10 KB', samples.read, { unit: 'us' }),
      figure('server-filesystem', samples.theirs, { unit: 'us' }),
    ]
  })
}

async function read(client, name, args) {
  const { content, isError } = await client.callTool({ name, arguments: args })
  if (isError || !content[0]?.text.includes(TEXT.slice(0, 5_000)))
    throw new Error(JSON.stringify(content).slice(0, 500))
}
