import {
  type AgentTool,
  type AnyTool,
  checkPluginKeys,
  type HandlerTool,
  messageOf,
  type Plugin,
  type PluginApi,
  ToolError,
} from '@tool-hub/core'

/** The interface of the hub for a plugin; `withdraw` removes everything that the plugin has registered. */
export interface PluginHost extends Omit<PluginApi, 'registerTool'> {
  registerTool(tool: AnyTool | AgentTool | HandlerTool): void
  withdraw(): void
}

/** A plugin that could not be set up, with the tools that are missing because of it. */
export interface FailedPlugin {
  readonly name: string
  readonly error: ToolError
  readonly tools: ReadonlySet<string>
}

/**
 * Sets up plugins; their tools and hooks are added in the order of the plugins. Calls wait until all plugins are ready. The
 * tools of a plugin that fails are missing; if the plugin is required or has hooks, every call fails from then on.
 */
export class PluginSetups {
  readonly #failed: FailedPlugin[] = []
  /** Settles when the plugins added so far are set up; `undefined` if all of them are. Only this class sets it. */
  pending: Promise<void> | undefined

  /** Starts to set up a plugin. Throws if it has an unknown key, or if one that is required or has hooks fails synchronously. */
  add(plugin: Plugin, host: PluginHost): void {
    checkPluginKeys(plugin)
    const setup = new Setup(plugin, host)
    try {
      const settingUp = plugin.setup?.(setup.api)
      if (!settingUp && !this.pending) setup.finish()
      else
        this.#wait(
          setup,
          Promise.all([this.pending, settingUp]).then(() => setup.finish()),
        )
    } catch (error) {
      const failure = this.#fail(setup, error)
      if (!setup.guards) return
      this.#wait(setup, Promise.reject(failure))
      throw failure
    }
  }

  /** The plugins that failed. */
  get failed(): readonly FailedPlugin[] {
    return this.#failed
  }

  /** Returns why a tool of a plugin is missing, or `undefined` if no failed plugin has it. */
  problem(tool: string): ToolError | undefined {
    return this.#failed.find(({ tools }) => tools.has(tool))?.error
  }

  #wait(setup: Setup, settingUp: Promise<void>): void {
    const before = this.pending
    const mine: Promise<void> = settingUp.then(
      () => this.#done(mine),
      async (error) => {
        // Rejects if an earlier plugin failed, so that each failure is reported for its own plugin.
        await before
        const failure = this.#fail(setup, error)
        if (setup.guards) throw failure
        this.#done(mine)
      },
    )
    this.pending = mine
    // The error is not lost: every call waits for this promise and fails with it.
    mine.catch(() => {})
  }

  #done(mine: Promise<void>): void {
    if (this.pending === mine) this.pending = undefined
  }

  #fail(setup: Setup, cause: unknown): ToolError {
    const { plugin, tools, guards } = setup
    const error = failure(plugin, cause, guards)
    setup.withdraw()
    this.#failed.push({ name: plugin.name, error, tools: new Set(tools) })
    if (!guards) process.emitWarning(error.message, 'ToolHubWarning')
    return error
  }
}

/** The setup of one plugin: what it has registered, and whether calls depend on it because it is required or has hooks. */
class Setup {
  readonly plugin: Plugin
  readonly api: PluginApi
  readonly tools: string[]
  guards: boolean
  readonly #host: PluginHost

  constructor(plugin: Plugin, host: PluginHost) {
    this.plugin = plugin
    this.#host = host
    this.tools = (plugin.tools ?? []).map(({ name }) => name)
    this.guards = plugin.required ?? [plugin.hooks ?? []].flat().length > 0
    this.api = {
      onEvent: host.onEvent,
      registerTool: (tool: AnyTool | AgentTool | HandlerTool) => {
        this.tools.push(tool?.name)
        host.registerTool(tool)
      },
      addHooks: (hooks) => {
        this.guards = plugin.required ?? true
        host.addHooks(hooks)
      },
    }
  }

  finish(): void {
    for (const tool of this.plugin.tools ?? []) this.#host.registerTool(tool as AnyTool)
    for (const hooks of [this.plugin.hooks ?? []].flat()) this.#host.addHooks(hooks)
  }

  withdraw(): void {
    this.#host.withdraw()
  }
}

function failure(plugin: Plugin, cause: unknown, guards: boolean): ToolError {
  return new ToolError('CONFIG_INVALID', `The plugin ${plugin.name} could not be set up: ${messageOf(cause)}`, {
    hint: guards
      ? 'Fix or remove the plugin; until then every call fails, because the plugin is required or has hooks.'
      : 'Fix or remove the plugin; until then its tools are missing.',
    cause,
  })
}
