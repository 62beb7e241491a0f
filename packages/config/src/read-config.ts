import { existsSync, statSync } from 'node:fs'
import path, { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type AnyTool,
  type ConfigDocument,
  configError,
  type FeatureConfig,
  formatPath,
  formatPlace,
  type HubOptions,
  type KeyPath,
  lazyModule,
  messageOf,
  type Plugin,
  type Problem,
  type ToolSource,
} from '@tool-hub/core'
import { toProgramAccess } from '@tool-hub/core/config'
import { recoverCommands } from '@tool-hub/runtime/hub'
import { codeFiles, resolvePath, selfReference } from '@tool-hub/sandbox/system'
import { allowedRoots } from './allowed-roots.ts'
import { type CheckedConfig, checkConfig, walkConfig } from './check-config.ts'
import { featureConfigs } from './generated/index.ts'
import { FOREIGN_KEYS } from './mcp-servers.ts'
import { isPluginPath, readDocument, resolvePlugin } from './read-document.ts'
import { policiesOf, policyFiles, rulesFrom, shadowOf } from './read-rules.ts'
import { toRecords } from './records.ts'
import type { Config } from './schema.ts'
import { type ServiceOptions, toServices, type WorkerSection } from './service.ts'
import { toDatabase } from './store.ts'
import { toOptions, toRetention } from './to-options.ts'

const loadFolderSource = lazyModule(() => import('@tool-hub/adapters/sources/plugins'))

const loadIsolatedPlugin = lazyModule(() => import('@tool-hub/adapters/sources/plugins'))

const HINT =
  'A plugin is a JavaScript module (compile TypeScript first) whose default export is a plugin, a tool, or a function from options to one. To go on without it: { use, required: false }.'

const TIMES = new Set<unknown>(['timeout', 'time'])

/** A config, ready for `createToolHub`. */
export interface LoadedConfig {
  /** Absolute; absent if no config exists and the defaults apply. */
  readonly file: string | undefined
  /** Pass them to `createToolHub`, with your own additions. */
  readonly options: HubOptions
  /** How `tool-hub serve` is reached. */
  readonly service: ServiceOptions
  /** What `tool-hub worker` executes. */
  readonly worker: WorkerSection
  /** What is allowed but hardly meant, each with its place. */
  readonly warnings: readonly string[]
}

/** Reads, checks and translates one config file, with the policy file and the plugins it names. */
export async function readConfig(
  file: string,
  { cwd, home, watch, plugins: runsCode }: { cwd: string; home: string; watch: boolean; plugins: boolean },
): Promise<LoadedConfig> {
  const document = await readDocument(file, cwd)
  const config = checkConfig(document)
  const policies = await policiesOf(document, config, cwd)
  const policy = rulesFrom(document, config, policies)
  const shadow = await shadowOf(document, config, cwd)
  const options = toOptions(config, { base: path.dirname(file), home })
  const place = { base: path.dirname(file), secrets: options.secrets }
  const database = config.store === undefined ? undefined : await toDatabase(document, config.store, place)
  const records = config.records && (await toRecords(document, config.records, options.secrets))
  const allowed = allowedRoots(policies, options.sandbox)
  await recoverCommands(options.data!)
  // Plugins are code: they run only once everything else is known to be right.
  const { plugins, sources, warnings } = await loadPlugins(document, (runsCode && config.plugins) || [], { watch })
  const services = toServices(document, config, toRetention(config.runs))
  const own = await ownFiles(document, runsCode ? config : { ...config, plugins: [] })
  return {
    file,
    options: {
      ...options,
      ...(database && { database }),
      ...(records && { records }),
      sandbox: { ...options.sandbox, ...allowed.sandbox, protect: [...(options.sandbox?.protect ?? []), ...own] },
      policy,
      ...(shadow && { shadowPolicy: shadow }),
      ...(plugins.length > 0 ? { plugins } : {}),
      ...(sources.length > 0 ? { sources } : {}),
    },
    ...services,
    warnings: [...findWarnings(document, config), ...allowed.warnings, ...warnings],
  }
}

/**
 * What decides on tools must not be theirs to change: the config, its policy, and the code of its plugins with all that
 * they import.
 */
async function ownFiles({ file }: ConfigDocument, config: CheckedConfig): Promise<string[]> {
  const { plugins = [] } = config
  const code = await Promise.all(plugins.map((written) => codeOf(file, pluginEntry(written).use)))
  const own = file.endsWith('.mjs') ? codeFiles(file) : [file]
  return [...new Set([...own, ...policyFiles(file, config), ...code.flat()])]
}

async function codeOf(configFile: string, use: string): Promise<string[]> {
  if (isFolder(configFile, use)) return [resolvePath(path.dirname(configFile), use)]
  const module = await resolvePlugin(configFile, use)
  // Beside a plugin lies what belongs to it; only the folder of the config itself holds other things as well.
  const isAlone = path.dirname(module) === path.dirname(configFile)
  return [...(isAlone ? [] : [path.dirname(module)]), ...codeFiles(module)]
}

const PLAIN_PASSWORD = /:\/\/(?:\$\{[^}]*\}|(?!\$\{)[^/@:])*:(?!\$\{)[^/@]+@/

/** What is allowed but hardly meant. */
function findWarnings(document: ConfigDocument, config: CheckedConfig): string[] {
  const { redact, secrets = {}, mcpServers = {} } = config
  const warnings: string[] = []
  const warn = (path: KeyPath, message: string) =>
    warnings.push(`${formatPlace(document.label, path, document.locate(path))} ${formatPath(path)}: ${message}`)

  for (const { path, value } of walkConfig(document.value)) {
    const isTime = TIMES.has(path.at(-1)) && path[0] !== 'plugins'
    if (isTime && typeof value === 'number' && value < 1_000)
      warn(path, `${value} is milliseconds; write ${value}s for seconds.`)
  }
  const sections = new Map<string, unknown>(Object.entries(config))
  for (const [name, { warnings: find }] of Object.entries<FeatureConfig>(featureConfigs)) {
    const written = sections.get(name)
    for (const { key, message } of written === undefined ? [] : (find?.(written) ?? [])) warn([name, key], message)
  }
  for (const [index, name] of (redact?.env ?? []).entries()) {
    if (!process.env[name]) warn(['redact', 'env', index], `${name} is not set, so there is nothing to redact.`)
  }
  for (const [name, { env }] of Object.entries(secrets)) {
    if (!process.env[env]) warn(['secrets', name, 'env'], `${env} is not set, so the secret ${name} is missing.`)
  }
  const url = typeof config.store === 'object' ? config.store.url : config.store
  if (url !== undefined && PLAIN_PASSWORD.test(url))
    warn(['store'], 'holds a password that everybody can read who can read this file; write ${env:NAME} instead.')
  for (const [name, server] of Object.entries(mcpServers)) {
    for (const foreign of FOREIGN_KEYS.filter((each) => Object.hasOwn(server, each)))
      warn(['mcpServers', name, foreign], 'is of another program and says nothing here; write a rule instead.')
  }
  return warnings
}

type Written = NonNullable<Config['plugins']>[number]

/** A plugin as a config names it, in one form. */
type Entry = Exclude<Written, string | readonly unknown[]>

/** What the plugins of a config are: those of this process, those of their own, and what was left out. */
interface LoadedPlugins {
  readonly plugins: readonly Plugin[]
  readonly sources: readonly ToolSource[]
  readonly warnings: readonly string[]
}

/** Imports the plugins of a config, in their order; all that fail are named, and end it unless they are not required. */
async function loadPlugins(
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

/** All forms of a plugin in a config as one. */
function pluginEntry(written: Written): Entry {
  if (typeof written === 'string') return { use: written }
  return Array.isArray(written) ? { use: written[0], options: written[1] } : (written as Entry)
}

/** Whether a plugin is named by the path of a folder: then every module in it brings tools. */
function isFolder(configFile: string, use: string): boolean {
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
  const access =
    typeof isolate === 'object' ? toProgramAccess(isolate, (path) => resolvePath(dirname(configFile), path)) : {}
  return isolatePlugin(file, { options, access, required })
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
  if (!existsSync(file)) throw new Error('the file does not exist.')
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
