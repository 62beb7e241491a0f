import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig } from '@tool-hub/config'
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

/** A hub as an owner gets it from a config file. */
export interface ConfiguredHub {
  readonly hub: Hub
  /** The folder of the config; `runs` and `data` are in it. */
  readonly folder: string
  readonly warnings: readonly string[]
  /** Calls a tool by name with arguments as they come from a model. */
  call(tool: string, input?: unknown, options?: CallOptions): Promise<ToolResult>
  /** The text of a file below the folder. */
  read(name: string): string
  /** The lines of a record file of the hub's own run, which ends it. */
  record(file: string): Promise<Record<string, unknown>[]>
}

/**
 * Writes the text as `tool-hub.yaml` beside the files and creates a hub from it; `more` adds what only code can say. The
 * hub is closed when the test ends.
 */
export async function configuredHub(
  config: string,
  files: Readonly<Record<string, string>> = {},
  more: HubOptions = {},
): Promise<ConfiguredHub> {
  const folder = temporaryFolder('configured')
  for (const [name, content] of Object.entries({ 'tool-hub.yaml': config, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const { options, warnings } = await loadConfig({ cwd: folder })
  const hub: Hub = createToolHub({ ...options, ...more })
  onTestFinished(() => hub.close({ abort: true }))
  await hub.ready()
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return {
    hub,
    folder,
    warnings,
    call: (tool, input = {}, callOptions) => hub.callDynamic(tool, input, callOptions),
    read,
    async record(file) {
      await hub.endRun(hub.run)
      return jsonLines(read(join('runs', hub.run, file)))
    },
  }
}

/** A skill in the public format, with further lines of its front matter. */
export const skillText = (name: string, body: string, more = '') =>
  `---\nname: ${name}\ndescription: How to work with ${name}.\n${more}---\n${body}\n`
