import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Everything that a build runs or reads by the name of a file: workers, the spawner, the grammar, the child of a plugin. */
const SCRIPT = `
import { createServer } from 'node:http'
import { createToolHub, isolatePlugin } from INDEX

const page = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>x</title><p>a page that is read apart'))
await new Promise((resolve) => page.listen(0, '127.0.0.1', resolve))
const hub = createToolHub({
  runs: 'runs',
  data: 'data',
  sandbox: { root: '.', network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
  policy: [{ allow: 'exec', on: 'echo *' }],
  sources: [isolatePlugin(PLUGIN)],
})
const told = async (name, input) => {
  const result = await hub.callDynamic(name, input)
  return result.ok ? result.content[0].text : result.error.message
}
await hub.ready({ all: true })
console.log(JSON.stringify([
  await told('core/web.fetch', { url: 'http://127.0.0.1:' + page.address().port + '/' }),
  await told('core/exec.run', { command: 'echo from a shell' }),
  await told('apart.shout', { text: 'hi' }),
]))
page.close()
await hub.close()
`

const PLUGIN = `
export default {
  name: 'apart.shout',
  description: 'Shouts.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: ({ text }) => text.toUpperCase(),
}
`

it('the built package finds every file that it runs or reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-build-'))
  try {
    const plugin = join(folder, 'plugin.mjs')
    writeFileSync(plugin, PLUGIN)
    const index = JSON.stringify(pathToFileURL('packages/tool-hub/dist/index.js').href)
    const script = SCRIPT.replace('INDEX', index).replace('PLUGIN', JSON.stringify(plugin))
    const words = ['--input-type=module', '-e', script]
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder })
    expect(JSON.parse(stdout)).toEqual([
      expect.stringContaining('a page that is read apart'),
      expect.stringContaining('from a shell'),
      'HI',
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('an uncaught error of the built package shows its message, the line that threw and a short stack', async () => {
  const index = JSON.stringify(pathToFileURL('packages/tool-hub/dist/index.js').href)
  const script = `import { createToolHub } from ${index}\ncreateToolHub({ polcy: [] })`
  const failed = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  const { stderr } = await failed.catch((error) => error)
  expect(stderr).toContain('createToolHub has no option "polcy".')
  expect(stderr).toContain('Did you mean policy?')
  expect(stderr.length).toBeLessThan(3_000)
})

it('the declarations of schemas have the comments of their properties, also of those that they extend', () => {
  const runs = readFileSync('packages/tool-hub/dist/types/core/protocol/runs.d.ts', 'utf8')
  expect(runs).toContain('    /** Id of the run. */\n    run: z.ZodString;')
  const sessions = readFileSync('packages/tool-hub/dist/types/features/sessions/schema.d.ts', 'utf8').split(
    'declare const agentEntry',
  )[1]
  expect(sessions).toContain('    /** Also the run of its calls. */\n    id: z.ZodString;')
})
