import type { Plugin, PluginApi } from '../define.ts'
import { ToolError } from '../errors.ts'

/** Sets plugins up, in order. While one is not ready, or has failed, no call passes: it may have brought a guard. */
export class PluginSetups {
  #pending: Promise<void> | undefined

  add(plugin: Plugin, api: PluginApi): void {
    const finish = () => {
      for (const tool of plugin.tools ?? []) api.registerTool(tool)
      for (const hooks of [plugin.hooks ?? []].flat()) api.addHooks(hooks)
    }
    const setUp = start(plugin, api)
    if (!setUp && !this.#pending) {
      finish()
      return
    }
    const mine: Promise<void> = Promise.all([this.#pending, setUp])
      .then(finish)
      .then(
        () => {
          if (this.#pending === mine) this.#pending = undefined
        },
        (error) => {
          throw failed(plugin, error)
        },
      )
    this.#pending = mine
    // Not lost: every call waits for it and ends with its error.
    mine.catch(() => {})
  }

  readonly ready = (): Promise<void> | undefined => this.#pending
}

function start(plugin: Plugin, api: PluginApi): Promise<void> | undefined {
  try {
    return plugin.setup?.(api) ?? undefined
  } catch (error) {
    throw failed(plugin, error)
  }
}

function failed(plugin: Plugin, error: unknown): ToolError {
  if (ToolError.is(error)) return error
  return new ToolError(
    'CONFIG_INVALID',
    `The plugin ${plugin.name} could not be set up: ${error instanceof Error ? error.message : error}`,
    {
      hint: 'Repair or remove the plugin; until then no call passes, because it may guard something.',
      cause: error,
    },
  )
}
