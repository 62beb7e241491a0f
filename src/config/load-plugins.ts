import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { AnyTool, Plugin } from '../define.ts'
import type { ConfigDocument } from './config-document.ts'
import { configError } from './problem.ts'
import { resolvePlugin } from './resolve-plugin.ts'
import type { Config } from './schema.ts'

/** Imports the plugins of a config, in their order; the first that fails is named. */
export async function loadPlugins(
  document: ConfigDocument,
  plugins: NonNullable<Config['plugins']>,
): Promise<Plugin[]> {
  const loaded: Plugin[] = []
  for (const [index, written] of plugins.entries()) {
    const [name, options] = typeof written === 'string' ? [written, undefined] : written
    try {
      loaded.push(await loadPlugin(document.file, name, options))
    } catch (cause) {
      const path = ['plugins', index]
      const message = `plugin ${name} does not load: ${cause instanceof Error ? cause.message : String(cause)}`
      throw configError(document.label, [{ path, position: document.locate(path), message }], {
        hint: 'A plugin is a JavaScript module (compile TypeScript first) whose default export is a plugin, a tool, or a function from options to one.',
        cause,
      })
    }
  }
  return loaded
}

async function loadPlugin(
  configFile: string,
  name: string,
  options: Record<string, unknown> | undefined,
): Promise<Plugin> {
  const file = await resolvePlugin(configFile, name)
  if (!existsSync(file)) throw new Error('there is no such file.')
  const { default: exported } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  if (typeof exported !== 'function' && options !== undefined) throw new Error('it takes no options.')
  const plugin = typeof exported === 'function' ? await exported(options ?? {}) : exported
  if (isTool(plugin)) return { name: plugin.name, tools: [plugin] }
  if (isPlugin(plugin)) return plugin
  throw new Error('its default export is neither a plugin with a name nor a tool.')
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
