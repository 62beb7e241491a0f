import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { connectFilesystemServer } from '../lib/filesystem-server.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const LINE = `${'lorem ipsum dolor sit amet '.repeat(4)}\n`
const HALF = LINE.repeat(Math.floor(2_450_000 / LINE.length))

/** One edit in the middle of a 5 MB file: atomic, durable and journaled here; read, replace, write as the floor. */
export default async function editLarge({ rounds }) {
  return withTempFolder(async (folder) => {
    const root = join(folder, 'project')
    await mkdir(root)
    const paths = ['ours.txt', 'plain.txt', 'server.txt'].map((name) => join(root, name))
    for (const path of paths) await writeFile(path, `${HALF}marker 0\n${HALF}`)
    const [, plain, theirs] = paths
    const hub = projectHub({ runs: join(folder, 'runs'), root })
    const server = await connectFilesystemServer(root)
    const counts = { ours: 0, plain: 0, server: 0 }
    const next = (name) => [`marker ${counts[name]}\n`, `marker ${++counts[name]}\n`]
    const samples = await measureInRounds(
      {
        ours: () =>
          onQuietDisk(async () => {
            const [oldText, newText] = next('ours')
            await dataOf(hub.call('core/fs.edit', { path: 'ours.txt', oldText, newText }))
          }),
        plain: () =>
          onQuietDisk(async () => {
            const [oldText, newText] = next('plain')
            const text = await readFile(plain, 'utf8')
            await writeFile(plain, text.replace(oldText, newText))
          }),
        server: () =>
          onQuietDisk(async () => {
            const [oldText, newText] = next('server')
            const result = await server.callTool({
              name: 'edit_file',
              arguments: { path: theirs, edits: [{ oldText, newText }] },
            })
            if (result.isError) throw new Error(result.content[0].text)
          }),
      },
      { rounds },
    )
    await Promise.all([hub.close(), server.close()])
    for (const [index, name] of ['ours', 'plain', 'server'].entries()) {
      const text = await readFile(paths[index], 'utf8')
      if (text !== `${HALF}marker ${counts[name]}\n${HALF}`) throw new Error(`${name} did not edit as asked`)
    }
    return [
      ratioFigure('governed : read, replace, write', samples.ours, samples.plain, { goal: 1.05 }),
      ratioFigure('server-filesystem : read, replace, write', samples.server, samples.plain),
      figure('governed', samples.ours, { unit: 'ms' }),
      figure('read, replace, write', samples.plain, { unit: 'ms' }),
    ]
  })
}

/** What others have left unwritten is written first: an fsync would pay for all of it. */
async function onQuietDisk(work) {
  await promisify(execFile)('sync')
  return millisecondsOf(work)
}
