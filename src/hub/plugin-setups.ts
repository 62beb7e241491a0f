import {
  type AgentTool,
  type AnyTool,
  type HandlerTool,
  messageOf,
  type Plugin,
  type PluginApi,
  ToolError,
} from '../core/index.ts'

/** What a hub does for a plugin; `withdraw` takes back all that it has registered. */
export interface PluginHost extends Omit<PluginApi, 'registerTool'> {
  registerTool(tool: AnyTool | AgentTool | HandlerTool): void
  withdraw(): void
}

/** A plugin that could not be set up, and the tools that are missing for it. */
export interface FailedPlugin {
  readonly name: string
  readonly error: ToolError
  readonly tools: ReadonlySet<string>
}

/**
 * Sets plugins up; their tools and hooks come in the order of the plugins. While one is not ready no call passes. One
 * that fails is named and its tools are gone; when it guards something, no call passes from then on.
 */
export class PluginSetups {
  readonly #failed: FailedPlugin[] = []
  /** Settles when the plugins added so far are set up; `undefined` if all of them are. Only this class sets it. */
  pending: Promise<void> | undefined

  /** Begins a set-up; one that guards and fails at once is thrown too, so that its owner sees it where it happens. */
  add(plugin: Plugin, host: PluginHost): void {
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

  /** Those that failed alone, for whoever wonders where a tool is. */
  get failed(): readonly FailedPlugin[] {
    return this.#failed
  }

  /** Why a tool of a plugin is not there. */
  problem(tool: string): ToolError | undefined {
    return this.#failed.find(({ tools }) => tools.has(tool))?.error
  }

  #wait(setup: Setup, settingUp: Promise<void>): void {
    const before = this.pending
    const mine: Promise<void> = settingUp.then(
      () => this.#done(mine),
      async (error) => {
        // What an earlier one failed with is its own; it is told as such.
        await before
        const failure = this.#fail(setup, error)
        if (setup.guards) throw failure
        this.#done(mine)
      },
    )
    this.pending = mine
    // Not lost: every call waits for it and ends with its error.
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

/** The set-up of one plugin: what it has registered so far, and whether it guards. */
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
      ? 'Repair or remove the plugin; until then no call passes, because it guards something.'
      : 'Repair or remove the plugin; its tools are not there until then.',
    cause,
  })
}
