import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const INDEX = new URL('../packages/tool-hub/dist/index.js', import.meta.url)

const CONFIG = `version: 1
tools: { profile: full }
sandbox: { root: ./files }
policy:
  - { allow: load.append }
  - { ask: load.send, reason: what is sent cannot be taken back }
  - { deny: load.never, reason: nobody may }
plugins: [./load-tools.mjs]
`

/** Tools whose effects can be counted: each line of effects.log is one. */
const PLUGIN = `import { appendFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { definePlugin, defineTool } from ${JSON.stringify(INDEX.href)}

const object = (properties) => ({
  type: 'object', properties, required: Object.keys(properties), additionalProperties: false,
})
const text = { type: 'string' }
const effects = new URL('./files/effects.log', import.meta.url)

export default definePlugin({
  name: 'load',
  tools: [
    defineTool({
      name: 'load.echo', description: 'Say it again.', input: object({ text }), capabilities: [],
      execute: ({ text }) => text,
    }),
    defineTool({
      name: 'load.append', description: 'One effect.', input: object({ key: text }), capabilities: ['write:fs'],
      targets: () => ({ 'write:fs': './effects.log' }),
      async execute({ key }) {
        // Before and after: a kill may come at any time.
        await wait(Math.random() * 5)
        await appendFile(effects, key + '\\n')
        await wait(Math.random() * 5)
        return key
      },
    }),
    defineTool({
      name: 'load.send', description: 'Needs a person.', input: object({ text }), capabilities: [],
      execute: ({ text }) => text,
    }),
    defineTool({
      name: 'load.never', description: 'Is denied.', input: object({ text }), capabilities: [],
      execute: () => 'never',
    }),
    defineTool({
      name: 'load.tell', description: 'Tells how it goes.', input: object({ text }), capabilities: [],
      async execute({ text }, ctx) {
        for (let step = 0; step < 5; step++) {
          ctx.progress(text + ' ' + step)
          await wait(2)
        }
        return text
      },
    }),
  ],
})
`

/** A folder for a service, with its config, some tools to call and files to read; below `parent` when that is given. */
export async function makeServiceFolder(parent = tmpdir()) {
  const folder = await mkdtemp(join(parent, 'tool-hub-load-'))
  await mkdir(join(folder, 'files'))
  await writeFile(join(folder, 'tool-hub.yaml'), CONFIG)
  await writeFile(join(folder, 'load-tools.mjs'), PLUGIN)
  await writeFile(join(folder, 'files', 'effects.log'), '')
  await writeFile(join(folder, 'files', 'read.txt'), 'a line of text\n'.repeat(200))
  return folder
}
