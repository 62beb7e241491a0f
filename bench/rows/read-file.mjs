import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { connectFilesystemServer } from '../lib/filesystem-server.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { startPeer } from '../lib/peer.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 500
const TEXT = `${'0123456789abcdef '.repeat(6)}\n`.repeat(100).slice(0, 10_240)

/** Reads 10 KB through the whole governed road, beside Node itself and the file tools of others. */
export default async function readFileRow({ rounds }) {
  return withTempFolder(async (folder) => {
    const root = join(folder, 'project')
    await mkdir(join(root, 'docs'), { recursive: true })
    const path = join(root, 'docs/notes.txt')
    await writeFile(path, TEXT)
    const hub = projectHub({ runs: join(folder, 'runs'), root })
    const server = await connectFilesystemServer(root)
    const deepagents = await startPeer('deepagents-read', root, '/docs/notes.txt')
    const samples = await measureInRounds(
      {
        ours: () =>
          microsecondsEach(CALLS, async () => {
            check((await dataOf(hub.call('core/fs.readText', { path: 'docs/notes.txt' }))).text)
          }),
        node: () => microsecondsEach(CALLS, async () => check(await readFile(path, 'utf8'))),
        server: () =>
          microsecondsEach(CALLS, async () => {
            const { content } = await server.callTool({ name: 'read_text_file', arguments: { path } })
            check(content[0].text)
          }),
        deepagents: () => deepagents.microsecondsEach(CALLS),
      },
      { rounds },
    )
    deepagents.stop()
    await Promise.all([hub.close(), server.close()])
    return [
      ratioFigure('governed : Node readFile', samples.ours, samples.node, { goal: 1 }),
      ratioFigure('governed : server-filesystem over stdio', samples.ours, samples.server, { goal: 0.3 }),
      ratioFigure('governed : deepagents read_file', samples.ours, samples.deepagents, { goal: 0.25 }),
      figure('governed', samples.ours, { unit: 'us' }),
      figure('Node readFile', samples.node, { unit: 'us' }),
      figure('server-filesystem', samples.server, { unit: 'us' }),
      figure('deepagents', samples.deepagents, { unit: 'us' }),
    ]
  })
}

function check(text) {
  if (text !== TEXT) throw new Error(`expected ${TEXT.length} characters, got ${text?.length}`)
}
