import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type CallOptions,
  createToolHub,
  type Hub,
  type HubOptions,
  type ToolResult,
} from '../../packages/library/src/index.ts'
import { jsonLines } from './cli.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A hub as an owner gets it from the package: nobody approves, and only the shipped rules and the given ones hold. */
export interface RealHub {
  readonly hub: Hub
  /** The sandbox root. */
  readonly root: string
  /** The folder of the run records. */
  readonly runs: string
  /** Calls a tool by name with arguments as they come from a model. */
  call(tool: string, input?: unknown, options?: CallOptions): Promise<ToolResult>
  /** The data of a call that has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: each tool has its own data
  data(tool: string, input?: unknown, options?: CallOptions): Promise<any>
  /** The text that a model gets of a call. */
  text(tool: string, input?: unknown, options?: CallOptions): Promise<string>
  read(name: string): string
  /** The lines of a record file of the hub's own run. */
  record(file: string): Promise<Record<string, unknown>[]>
}

/** Creates the files, and a hub whose sandbox root is their folder; the hub is closed when the test ends. */
export function realHub(options: HubOptions = {}, files: Readonly<Record<string, string | Uint8Array>> = {}): RealHub {
  const folder = realpathSync(temporaryFolder('requirement'))
  const [root, runs] = [join(folder, 'root'), join(folder, 'runs')]
  mkdirSync(root)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  const sandbox = options.core?.sandboxRoot === undefined ? { root, ...options.sandbox } : options.sandbox
  const hub: Hub = createToolHub({ runs, data: join(folder, 'data'), ...options, ...(sandbox && { sandbox }) })
  onTestFinished(() => hub.close({ abort: true }))
  const call: RealHub['call'] = (tool, input = {}, callOptions) => hub.callDynamic(tool, input, callOptions)
  return {
    hub,
    root,
    runs,
    call,
    async data(tool, input, callOptions) {
      const result = await call(tool, input, callOptions)
      if (!result.ok) throw new Error(`${tool}: ${result.error.code} ${result.error.message}`)
      return result.data
    },
    async text(tool, input, callOptions) {
      const { content } = await call(tool, input, callOptions)
      return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
    },
    read: (name) => readFileSync(join(root, name), 'utf8'),
    async record(file) {
      await hub.endRun(hub.run)
      return jsonLines(readFileSync(join(runs, hub.run, file), 'utf8'))
    },
  }
}

/** Opens loopback to a hub, which no hub may reach by default. */
export const LOOPBACK = { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] }
