import { hash } from 'node:crypto'
import { dirname, join } from 'node:path'
import {
  type AnyTool,
  type BaseContext,
  type Capability,
  type Content,
  defineTool,
  messageOf,
  type SourceHost,
  type Targets,
  ToolError,
  toolFailure,
} from '@tool-hub/core'
import { escapeLine, pointerKeys, valueAt, withStop } from '@tool-hub/core/lib'
import { lookAtFolder } from '@tool-hub/sandbox/system'
import { content, type IsolatedDefinition, toDefinitions } from './isolated/messages.ts'
import { PluginProcess, type PluginProgram } from './isolated/plugin-process.ts'

const MAX_KEPT = 100

/**
 * What a plugin's `toModel` returned for its data: computed in its process with the result, used in the hub a little
 * later. Data that was changed in between, by a hook or by redaction, is shown as it then is.
 */
class ShownContent {
  readonly #content = new Map<string, Content>()

  keep(data: unknown, content: Content): void {
    this.#content.set(keyOf(data), content)
    if (this.#content.size > MAX_KEPT) this.#content.delete(this.#content.keys().next().value!)
  }

  readonly show = (data: unknown): Content => {
    const key = keyOf(data)
    const content = this.#content.get(key)
    this.#content.delete(key)
    return content ?? (typeof data === 'string' ? data : JSON.stringify(data))
  }
}

const MAX_PAUSE_MS = 30_000
const FIRST_PAUSE_MS = 500

/** A plugin and its process, across restarts. */
export class IsolatedPlugin {
  readonly #program: PluginProgram
  readonly #host: SourceHost
  readonly #shown = new ShownContent()
  #process: PluginProcess | undefined
  #starting: Promise<PluginProcess> | undefined
  /** The last description of its tools. */
  #said = ''
  #failures = 0
  #notBefore = 0
  #isClosed = false

  constructor(program: PluginProgram, host: SourceHost) {
    this.#program = program
    this.#host = host
  }

  async start(): Promise<void> {
    await this.#running()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#starting?.catch(() => {})
    await this.#process?.stop(1_000)
  }

  async call(definition: IsolatedDefinition, input: unknown, ctx: BaseContext): Promise<unknown> {
    const known = this.#said
    const process = await this.#running()
    if (known !== this.#said) throw changed(this.#program.label)
    if (ctx.signal.aborted) throw ctx.signal.reason
    try {
      const { value, content: shown } = await process.call(definition.name, input, ctx)
      this.#failures = 0
      if (shown !== undefined) this.#shown.keep(value, this.#checkContent(definition.name, shown))
      return value
    } catch (error) {
      if (!process.isAlive) this.#countFailure(process)
      throw definition.isAgentTool ? toolFailure(definition.name, error) : error
    }
  }

  #checkContent(tool: string, given: unknown): Content {
    const parsed = content.safeParse(given)
    if (parsed.success) return parsed.data
    throw new ToolError('OUTPUT_SCHEMA_INVALID', `toModel of ${tool} gave neither a text nor blocks of content.`)
  }

  #running(): Promise<PluginProcess> {
    if (this.#process?.isAlive) return Promise.resolve(this.#process)
    this.#countFailure(this.#process)
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #start(): Promise<PluginProcess> {
    const { label } = this.#program
    const waitMs = this.#notBefore - this.#host.clock.now()
    if (waitMs > 0) throw paused(label, this.#failures, waitMs)
    try {
      const { child, described } = await PluginProcess.start(this.#program, this.#host)
      this.#process = child
      if (this.#isClosed) await child.stop(0)
      else this.#offer(described, child)
      return child
    } catch (cause) {
      this.#pause()
      if (ToolError.is(cause)) throw cause
      const message = `The plugin ${label} does not load: ${escapeLine(messageOf(cause))}`
      const remedy = linkedPackage(this.#program, message)
      throw new ToolError('UPSTREAM_ERROR', remedy === undefined ? message : `${withStop(message)} ${remedy}`, {
        hint: remedy ?? 'Correct the plugin, or how it is listed.',
        cause,
      })
    }
  }

  /**
   * Counts a process that ended by itself; the next call restarts it immediately, further restarts are delayed more
   * and more.
   */
  #countFailure(process: PluginProcess | undefined): void {
    if (!process || process !== this.#process) return
    this.#process = undefined
    this.#pause()
  }

  #pause(): void {
    const pauseMs = this.#failures === 0 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1))
    this.#failures++
    this.#notBefore = this.#host.clock.now() + pauseMs
  }

  #offer(described: readonly unknown[], { isSandboxed }: PluginProcess): void {
    const said = JSON.stringify(described)
    if (said === this.#said) return
    this.#said = said
    const { definitions, problems } = toDefinitions(described, this.#program.access)
    const refused = this.#host.offer(definitions.map((definition) => this.#toTool(definition)))
    for (const text of [
      ...(isSandboxed
        ? []
        : ['it is not sandboxed, because this machine has no sandbox and sandbox.required is false.']),
      ...problems,
      ...refused.map(({ name, why }) => `the tool ${name} is left out: ${why}`),
      ...definitions.flatMap(describeLost),
    ])
      this.#host.warn(escapeLine(`The plugin ${this.#program.label}: ${text}`))
  }

  #toTool(definition: IsolatedDefinition): AnyTool {
    const { targets, hasModelForm, isAgentTool, lost, ...facts } = definition
    return defineTool({
      ...facts,
      kind: 'plugin',
      // Not the plugin's choice: rules name the groups of the built-in tools.
      group: `plugin/${this.#program.label}`,
      ...(targets && { targets: (input: unknown) => declaredTargets(targets, input) }),
      execute: (input: unknown, ctx: BaseContext) => this.call(definition, input, ctx),
      ...(hasModelForm && { toModel: this.#shown.show }),
    })
  }
}

function describeLost({ name, lost }: IsolatedDefinition): string[] {
  const others = lost.filter((what) => what !== 'targets')
  return [
    ...(lost.length > others.length ? [`the tool ${name} has a function for its targets, ${AS_POINTERS}`] : []),
    ...(others.length > 0 ? [`the tool ${name} loses its ${others.join(', ')} in a process of its own.`] : []),
  ]
}

const AS_POINTERS = "which stays in its own process; write them as pointers: targets: { 'write:fs': '/path' }."

function changed(label: string): ToolError {
  return new ToolError('CONFLICT', `The plugin ${label} has other tools since it was started anew.`, {
    hint: 'Look at its tools again, then call.',
  })
}

function paused(label: string, failures: number, waitMs: number): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `The plugin ${label} failed ${failures} times in a row; it is started again in ${waitMs} ms.`,
    {
      hint: 'Wait that long, then call again.',
      details: { retryAfterMs: waitMs },
    },
  )
}

/**
 * A hint for a package that exists but was not found: the sandbox contains the real folders of packages, not the links
 * that some installers create. Returns `undefined` if that is not the problem.
 */
function linkedPackage({ packageFolders }: PluginProgram, message: string): string | undefined {
  const [, name] = /Cannot find package '((?:@[\w-][\w.-]*\/)?[\w-][\w.-]*)'/.exec(message) ?? []
  if (name === undefined) return undefined
  for (const packages of packageFolders) {
    const link = join(packages, name)
    const found = lookAtFolder(link)
    if (!found || found.path === link) continue
    // The folder with the link, and its target.
    const missing = [isLink(packages) ? dirname(packages) : undefined, found.path].filter((path) => path !== undefined)
    const places = missing.map((path) => JSON.stringify(path)).join(', ')
    return escapeLine(`${link} is reached by a link, which it does not see: add isolate: { readable: [${places}] }.`)
  }
  return undefined
}

function isLink(folder: string): boolean {
  return lookAtFolder(folder)?.path !== folder
}

function keyOf(data: unknown): string {
  return hash('sha256', JSON.stringify(data) ?? '', 'base64')
}

type Declared = NonNullable<IsolatedDefinition['targets']>

/**
 * Reads the targets of a call from the locations in its input that the tool declares: `{ 'write:fs': '/path' }`. If
 * it is missing, the capability is judged without a target, which is the strictest. For commands a list is one
 * command.
 */
function declaredTargets(declared: Declared, input: unknown): Targets {
  const targets: Partial<Record<Capability, unknown>> = {}
  for (const [capability, pointers] of Object.entries(declared) as [Capability, string | string[]][]) {
    const values = [pointers].flat().map((pointer) => valueAt(input, pointerKeys(pointer)))
    const found = capability === 'exec' ? commandOf(values) : textsOf(values)
    if (found !== undefined) targets[capability] = found
  }
  return targets as Targets
}

function textsOf(values: readonly unknown[]): string[] | undefined {
  const texts = values.flat()
  return texts.length > 0 && texts.every((text) => typeof text === 'string') ? texts : undefined
}

function commandOf([value, ...others]: readonly unknown[]): unknown {
  if (others.length > 0) return undefined
  if (typeof value === 'string') return { command: value }
  const words = textsOf([value])
  return Array.isArray(value) && words ? { argv: words } : undefined
}
