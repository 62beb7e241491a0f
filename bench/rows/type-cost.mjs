import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const BENCH = fileURLToPath(new URL('..', import.meta.url))
const TSC = join(PROJECT, 'node_modules/typescript/bin/tsc')
const SIZES = [100, 200]
const GOAL = 685

/** What one more tool costs the type checker, in instantiations: 200 tools less 100, so that imports cancel out. */
export default async function typeCost() {
  const ours = await instantiationsPerTool(toolHubFile, {
    'tool-hub': join(PROJECT, 'packages/tool-hub/dist/types/tool-hub/index.d.ts'),
    zod: join(PROJECT, 'node_modules/zod'),
  })
  const aiSdk = await instantiationsPerTool(aiSdkFile, {
    ai: join(BENCH, 'node_modules/ai'),
    zod: join(BENCH, 'node_modules/zod'),
  })
  return [
    figure('defineTool, per tool', [ours], { unit: 'instantiations', goal: GOAL }),
    figure('AI SDK 6 tool(), per tool', [aiSdk], { unit: 'instantiations' }),
    ratioFigure('ours : AI SDK 6', [ours], [aiSdk]),
  ]
}

async function instantiationsPerTool(makeFile, packages) {
  const [few, many] = await Promise.all(SIZES.map((size) => instantiations(makeFile(size), packages)))
  return (many - few) / (SIZES[1] - SIZES[0])
}

function instantiations(source, packages) {
  return withTempFolder(async (folder) => {
    const paths = Object.fromEntries(Object.entries(packages).map(([name, place]) => [name, [place]]))
    const types = { types: ['node'], typeRoots: [join(PROJECT, 'node_modules/@types')] }
    const compilerOptions = {
      target: 'es2023',
      module: 'esnext',
      moduleResolution: 'bundler',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      paths,
      ...types,
    }
    await writeFile(join(folder, 'tools.ts'), source)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['tools.ts'] }))
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', folder, '--extendedDiagnostics'], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`tsc ended with ${status}: ${stdout.slice(0, 2_000)}`)
    return Number(/^Instantiations:\s+(\d+)/m.exec(stdout)[1])
  })
}

function toolHubFile(size) {
  const tools = Array.from(
    { length: size },
    (_, index) => `
export const tool${index} = defineTool({
  name: 'bench/fs.readText${index}',
  description: 'Read a text file.',
  input: z.object({ path: z.string(), maxBytes: z.int().default(5_000_000) }),
  output: z.object({ text: z.string(), bytes: z.int() }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  async execute({ path, maxBytes }, ctx) {
    const text = await ctx.fs.readText(path, { maxBytes })
    return { text, bytes: text.length }
  },
  toModel: (output) => output.text,
})`,
  )
  return `import { defineTool } from 'tool-hub'\nimport { z } from 'zod'\n${tools.join('\n')}\n`
}

function aiSdkFile(size) {
  const tools = Array.from(
    { length: size },
    (_, index) => `
export const tool${index} = tool({
  description: 'Read a text file ${index}.',
  inputSchema: z.object({ path: z.string(), maxBytes: z.int().default(5_000_000) }),
  outputSchema: z.object({ text: z.string(), bytes: z.int() }),
  async execute({ path, maxBytes }) {
    const text = await readText(path, { maxBytes })
    return { text, bytes: text.length }
  },
  toModelOutput: ({ output }) => ({ type: 'text', value: output.text }),
})`,
  )
  const readText = 'declare function readText(path: string, options: { maxBytes: number }): Promise<string>'
  return `import { tool } from 'ai'\nimport { z } from 'zod'\n${readText}\n${tools.join('\n')}\n`
}
