import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { BreakableProxy } from './breakable-proxy.mjs'
import { startProcess } from './service-process.mjs'

const INDEX = new URL('../packages/tool-hub/dist/index.js', import.meta.url)
const MAX_STARTS = 20
const START_AGAIN_MS = 1_000

/** Tools whose effects can be counted over all machines: each line of effects.log is one. */
const pluginOf = (effects) => `import { appendFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { definePlugin, defineTool } from ${JSON.stringify(INDEX.href)}

const object = (properties) => ({
  type: 'object', properties, required: Object.keys(properties), additionalProperties: false,
})
const text = { type: 'string' }
const effects = ${JSON.stringify(effects)}

async function act({ key }) {
  // Before and after: a kill may come at any time.
  await wait(Math.random() * 10)
  await appendFile(effects, key + '\\n')
  await wait(Math.random() * 10)
  return key
}

export default definePlugin({
  name: 'load',
  tools: [
    defineTool({
      name: 'load.echo', description: 'Returns the text.', input: object({ text }), capabilities: [],
      execute: ({ text }) => text,
    }),
    defineTool({
      name: 'load.append', description: 'Has one effect.', input: object({ key: text }), capabilities: ['write:fs'],
      targets: () => ({ 'write:fs': './effects.log' }), execute: act,
    }),
    defineTool({
      name: 'load.work', description: 'Has one effect on a worker.', input: object({ key: text }),
      capabilities: ['remote'], targets: ({ key }) => ({ remote: 'load:' + key }), where: 'worker:load', results: 'own',
      execute: act,
    }),
    defineTool({
      name: 'load.wait', description: 'Waits on a worker.', input: object({ ms: { type: 'integer' } }),
      capabilities: ['remote'], targets: () => ({ remote: 'load:wait' }), where: 'worker:load', results: 'own',
      async execute({ ms }) {
        await wait(ms)
        return ms
      },
    }),
    defineTool({
      name: 'load.send', description: 'Needs an approval.', input: object({ key: text }), capabilities: ['write:fs'],
      targets: () => ({ 'write:fs': './sent.log' }), execute: act,
    }),
  ],
})
`

const configOf = (url) => `version: 1
store: ${url}
tools: { profile: full }
sandbox: { root: ./files }
policy:
  - { allow: load.append }
  - { allow: load.work }
  - { allow: load.wait }
  - { ask: load.send, reason: what is sent cannot be taken back }
plugins: [./load-tools.mjs]
`

/** A machine of the cluster: its own folder and its own way to PostgreSQL, with one service or one worker on it. */
export class Machine {
  name
  /** `serve` or `worker`. */
  command
  folder
  #proxy
  #process
  /** What happens to it now: `up`, `down`, `paused` or `cut`. */
  state = 'down'

  /** `database` is the URL of PostgreSQL, `effects` the file that counts side effects. */
  static async create(parent, { command, number, database, effects }) {
    const machine = new Machine()
    machine.name = `${command}-${number}`
    machine.command = command
    machine.folder = join(parent, machine.name)
    const url = new URL(database)
    machine.#proxy = await BreakableProxy.open(Number(url.port))
    url.port = machine.#proxy.port
    await mkdir(join(machine.folder, 'files'), { recursive: true })
    await writeFile(join(machine.folder, 'tool-hub.yaml'), configOf(url))
    await writeFile(join(machine.folder, 'load-tools.mjs'), pluginOf(effects))
    return machine
  }

  get url() {
    return this.#process.url
  }

  get pid() {
    return this.#process.pid
  }

  /** The token of the owner of the hub. */
  get token() {
    return this.#process.token
  }

  get complaints() {
    return this.#process?.complaints ?? ''
  }

  /** Again after a failure, as the service manager of a machine does: PostgreSQL may be away. */
  async start() {
    const args = this.command === 'worker' ? ['worker', '--labels', 'load', '--concurrency', '8'] : undefined
    for (let starts = 1; this.state !== 'up'; starts++) {
      try {
        this.#process = await startProcess(this.folder, { args })
        this.state = 'up'
      } catch (error) {
        if (starts === MAX_STARTS) throw error
        await wait(START_AGAIN_MS)
      }
    }
  }

  async kill() {
    this.state = 'down'
    await this.#process.kill()
  }

  pause() {
    this.state = 'paused'
    this.#process.signal('SIGSTOP')
  }

  resume() {
    this.#process.signal('SIGCONT')
    this.state = 'up'
  }

  /** Cuts its connections to PostgreSQL in the middle of what they do. */
  cut() {
    this.#proxy.cut()
  }

  /** The same, and it gets no new ones until `unblock`. */
  block() {
    this.state = 'cut'
    this.#proxy.block()
  }

  unblock() {
    this.#proxy.unblock()
    this.state = 'up'
  }

  /** In good order; returns the exit code. */
  async stop() {
    if (this.state === 'down') return undefined
    this.state = 'down'
    return this.#process.stop()
  }

  close() {
    this.#proxy.close()
  }
}
