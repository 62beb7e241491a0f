import { lstatSync, readdirSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../../packages/tool-hub/dist/index.js'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { connectFilesystemServer } from '../lib/filesystem-server.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const FOLDERS = 99
const FILES_EACH = 100
const ENTRIES = FOLDERS * (FILES_EACH + 1)

/** core/fs.listDir and core/fs.find stop at 5,000 entries; the guard under them does not. */
const listAll = defineTool({
  name: 'bench/fs.listAll',
  description: 'List a whole tree.',
  input: z.strictObject({ path: z.string(), by: z.enum(['details', 'names', 'pattern']) }),
  output: z.strictObject({ entries: z.int() }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  async execute({ path, by }, ctx) {
    const options = { recursive: true, maxEntries: 20_000 }
    if (by === 'details') return { entries: (await ctx.fs.list(path, options)).entries.length }
    if (by === 'names') return { entries: (await ctx.fs.list(path, { ...options, details: false })).entries.length }
    return { entries: (await ctx.fs.find(path, { pattern: '*.txt', limit: 20_000 })).files.length }
  },
})

/**
 * Lists a tree of 10,000 with type, size and time of each entry, beside a plain walk that asks for the same and MCP's
 * file server; then by names and types alone, and finds its files by name, beside a walk that reads names.
 */
export default async function listTree({ rounds }) {
  return withTempFolder(async (folder) => {
    const root = join(folder, 'project')
    await makeTree(root)
    const hub = projectHub({ runs: join(folder, 'runs'), root, tools: [listAll] })
    const server = await connectFilesystemServer(root)
    const samples = await measureInRounds(
      {
        ours: () => millisecondsOf(async () => check(await entriesOf(hub, 'details'))),
        plain: () => millisecondsOf(() => check(walk(root))),
        names: () => millisecondsOf(async () => check(await entriesOf(hub, 'names'))),
        found: () => millisecondsOf(async () => check((await entriesOf(hub, 'pattern')) + FOLDERS)),
        plainNames: () => millisecondsOf(async () => check(await walkNames(root))),
        server: () =>
          millisecondsOf(async () => {
            const { content } = await server.callTool({ name: 'directory_tree', arguments: { path: root } })
            if (!content[0].text.includes('file-99.txt')) throw new Error('the server listed something else')
          }),
      },
      { rounds },
    )
    await Promise.all([hub.close(), server.close()])
    return [
      ratioFigure('governed : plain walk', samples.ours, samples.plain, { goal: 1.5 }),
      ratioFigure('names and types : walk by names', samples.names, samples.plainNames, { goal: 1.2 }),
      ratioFigure('found by name : walk by names', samples.found, samples.plainNames, { goal: 1.5 }),
      ratioFigure('server-filesystem : plain walk', samples.server, samples.plain),
      figure('governed', samples.ours, { unit: 'ms' }),
      figure('plain walk', samples.plain, { unit: 'ms' }),
      figure('names and types', samples.names, { unit: 'ms' }),
      figure('found by name', samples.found, { unit: 'ms' }),
      figure('walk by names', samples.plainNames, { unit: 'ms' }),
    ]
  })
}

async function entriesOf(hub, by) {
  return (await dataOf(hub.call(listAll, { path: '.', by }))).entries
}

async function walkNames(folder) {
  let entries = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    entries += 1 + (entry.isDirectory() ? await walkNames(join(folder, entry.name)) : 0)
  }
  return entries
}

function walk(folder) {
  let entries = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    lstatSync(path)
    entries += 1 + (entry.isDirectory() ? walk(path) : 0)
  }
  return entries
}

async function makeTree(root) {
  for (let index = 0; index < FOLDERS; index++) {
    const folder = join(root, `folder-${index}`)
    await mkdir(folder, { recursive: true })
    await Promise.all(Array.from({ length: FILES_EACH }, (_, file) => writeFile(join(folder, `file-${file}.txt`), 'x')))
  }
}

function check(entries) {
  if (entries !== ENTRIES) throw new Error(`expected ${ENTRIES} entries, got ${entries}`)
}
