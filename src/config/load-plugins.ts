import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyTool, Plugin } from '../define.ts'
import { selfReference } from '../disk/code-files.ts'
import { lazyModule } from '../disk/lazy-module.ts'
import { messageOf } from '../errors.ts'
import type { ToolSource } from '../source.ts'
import type { ConfigDocument } from './config-document.ts'
import { configError, formatPath, formatPlace, type Problem } from './problem.ts'
import { resolvePath } from './resolve-path.ts'
import { isPluginPath, resolvePlugin } from './resolve-plugin.ts'
import type { Config } from './schema.ts'
import { toFence } from './to-mcp-servers.ts'

const loadFolderSource = lazyModule(() => import('../sources/plugins/folder-source.ts'))
const loadIsolatedPlugin = lazyModule(() => import('../sources/plugins/isolated-plugin.ts'))

type Written = NonNullable<Config['plugins']>[number]

/** A plugin as a config names it, in one form. */
type Entry = Exclude<Written, string | readonly unknown[]>

/** What the plugins of a config are: those of this process, those of their own, and what was left out. */
export interface LoadedPlugins {
  readonly plugins: readonly Plugin[]
  readonly sources: readonly ToolSource[]
  readonly warnings: readonly string[]
}

/** Imports the plugins of a config, in their order; all that fail are named, and end it unless they are not required. */
export async function loadPlugins(
  document: ConfigDocument,
  written: readonly Written[],
  { watch }: { readonly watch: boolean },
): Promise<LoadedPlugins> {
  const plugins: Plugin[] = []
  const sources: ToolSource[] = []
  const warnings: string[] = []
  const problems: Problem[] = []
  const causes: unknown[] = []
  for (const [index, entry] of written.map(pluginEntry).entries()) {
    const path = ['plugins', index]
    try {
      if (isFolder(document.file, entry.use)) sources.push(await folderOfTools(document.file, entry, watch))
      else if (entry.isolate) sources.push(await isolate(document.file, entry))
      else plugins.push(await loadPlugin(document.file, entry))
    } catch (cause) {
      const message = `plugin ${entry.use} does not load: ${messageOf(cause)}`
      const position = document.locate(path)
      if (entry.required === false) {
        warnings.push(`${formatPlace(document.label, path, position)} ${formatPath(path)}: ${message}`)
        continue
      }
      problems.push({ path, position, message })
      causes.push(cause)
    }
  }
  if (problems.length === 0) return { plugins, sources, warnings }
  throw configError(document.label, problems, { hint: HINT, cause: causes[0] })
}

const HINT =
  'A plugin is a JavaScript module (compile TypeScript first) whose default export is a plugin, a tool, or a function from options to one. To go on without it: { use, required: false }.'

/** All forms of a plugin in a config as one. */
export function pluginEntry(written: Written): Entry {
  if (typeof written === 'string') return { use: written }
  return Array.isArray(written) ? { use: written[0], options: written[1] } : (written as Entry)
}

/** Whether a plugin is named by the path of a folder: then every module in it brings tools. */
export function isFolder(configFile: string, use: string): boolean {
  return (
    isPluginPath(use) &&
    statSync(resolvePath(dirname(configFile), use), { throwIfNoEntry: false })?.isDirectory() === true
  )
}

async function folderOfTools(
  configFile: string,
  { use, options, isolate }: Entry,
  watch: boolean,
): Promise<ToolSource> {
  if (options !== undefined || isolate) throw new Error('a folder of tools takes neither options nor isolate.')
  const { fromFolder } = await loadFolderSource()
  return fromFolder(resolvePath(dirname(configFile), use), { watch })
}

async function isolate(configFile: string, { use, options, isolate, required = true }: Entry): Promise<ToolSource> {
  const file = await pluginFile(configFile, use)
  const { isolatePlugin } = await loadIsolatedPlugin()
  const fence = typeof isolate === 'object' ? toFence(isolate, dirname(configFile)) : {}
  return isolatePlugin(file, { options, fence, required })
}

async function loadPlugin(configFile: string, { use, options, required }: Entry): Promise<Plugin> {
  const file = await pluginFile(configFile, use)
  const { default: exported } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  if (typeof exported !== 'function' && options !== undefined) throw new Error('it takes no options.')
  const plugin = typeof exported === 'function' ? await exported(options ?? {}) : exported
  if (isTool(plugin)) return { name: plugin.name, tools: [plugin] }
  if (isPlugin(plugin)) return required === undefined ? plugin : { ...plugin, required }
  throw new Error('its default export is neither a plugin with a name nor a tool.')
}

async function pluginFile(configFile: string, name: string): Promise<string> {
  const file = await resolvePlugin(configFile, name)
  if (!existsSync(file)) throw new Error('there is no such file.')
  const own = isPluginPath(name) ? selfReference(file) : undefined
  if (!own) return file
  // Anybody who may write package.json could choose what is imported by that name.
  throw new Error(
    `it imports ${own.name}, which is the name of its own project in ${own.manifest}; import the file by its path, or rename the project.`,
  )
}

/** A module may export a single tool: that is a plugin with one tool. */
function isTool(value: unknown): value is AnyTool {
  return isPlugin(value) && 'execute' in value && 'input' in value
}

function isPlugin(value: unknown): value is Plugin {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    value.name !== ''
  )
}
