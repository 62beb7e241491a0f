import type { Plugin, PluginApi } from '../define.ts'
import { messageOf, ToolError } from '../errors.ts'

/** Sets plugins up; their tools and hooks come in the order of the plugins. While one is not ready, or has failed, no call passes: it may have brought a guard. */
export class PluginSetups {
  #pending: Promise<void> | undefined

  /** Begins a set-up; one that fails at once is thrown too, so that its owner sees it where it happens. */
  add(plugin: Plugin, api: PluginApi): void {
    const finish = () => {
      for (const tool of plugin.tools ?? []) api.registerTool(tool)
      for (const hooks of [plugin.hooks ?? []].flat()) api.addHooks(hooks)
    }
    try {
      const setUp = plugin.setup?.(api)
      if (!setUp && !this.#pending) finish()
      else this.#wait(plugin, Promise.all([this.#pending, setUp]).then(finish))
    } catch (error) {
      const failure = failed(plugin, error)
      this.#wait(plugin, Promise.reject(failure))
      throw failure
    }
  }

  #wait(plugin: Plugin, settingUp: Promise<void>): void {
    const mine: Promise<void> = settingUp.then(
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

function failed(plugin: Plugin, error: unknown): ToolError {
  if (ToolError.is(error)) return error
  return new ToolError('CONFIG_INVALID', `The plugin ${plugin.name} could not be set up: ${messageOf(error)}`, {
    hint: 'Repair or remove the plugin; until then no call passes, because it may guard something.',
    cause: error,
  })
}
