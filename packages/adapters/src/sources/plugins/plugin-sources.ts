import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lazyModule, type ProgramAccess, type ToolSource } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { lookAtFolder, ownCodeFolder } from '@tool-hub/sandbox/system'
import type { FolderTools } from './folder-source.ts'
import type { PluginProgram } from './isolated/plugin-process.ts'
import type { IsolatedPlugin } from './isolated-plugin.ts'

const loadFolderTools = lazyModule(() => import('./folder-source.ts'))
const loadIsolatedPlugin = lazyModule(() => import('./isolated-plugin.ts'))

/** Options of `fromFolder`. */
export interface FolderOptions {
  /** Load added and changed files and drop removed ones while the hub runs. Default: false. */
  readonly watch?: boolean
}

/**
 * Offers the tools in the modules of a folder: every `*.mjs` and `*.js` in it exports by default a tool, a list of
 * tools, an AgentTool, a plugin with only tools, or a function that returns one of these. A module that does not load
 * is reported, and the others are loaded. Modules run in the process of the hub, with all its rights; use
 * `isolatePlugin` for those that should not. If a file changes under `watch` and no longer loads, its tools are
 * removed until it does, because what runs must match the file; a call of one reports the problem. Modules that a
 * module imports are not reloaded.
 * @example
 * const hub = createToolHub({ sources: [fromFolder('./tools', { watch: true })] })
 */
export function fromFolder(path: string, { watch = false }: FolderOptions = {}): ToolSource {
  const folder = resolve(path)
  let starting: Promise<FolderTools> | undefined
  return {
    name: `folder ${path}`,
    async start(host) {
      starting = loadFolderTools().then((loaded) => new loaded.FolderTools(folder, host))
      const tools = await starting
      await tools.load()
      if (watch) tools.watch()
    },
    close: async () => (await starting?.catch(() => undefined))?.close(),
  }
}

/** Options of `isolatePlugin`. */
export interface IsolateOptions {
  /** Argument of the function that the plugin exports. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Its name in messages, and in rules for its tools: `group:plugin/<name>`. Default: the name of its file. */
  readonly name?: string
  /** Refuse every call while the plugin cannot be loaded. Default: false. */
  readonly required?: boolean
  /** What its sandbox contains in addition to its own folder, the packages around it and the system folders. */
  readonly access?: ProgramAccess
  /** @deprecated Renamed to `access`; removed in the next version. */
  readonly fence?: ProgramAccess
}

/**
 * Offers the tools of a plugin that runs in a sandboxed process of its own. The plugin sees its own folder and its
 * packages, but no other file, no network and nothing of the hub's memory; its tools act through `ctx`, whose calls
 * the hub carries out under what each tool declares. If the process breaks, its calls end with UPSTREAM_ERROR and it
 * is started again. The price: a call crosses a pipe, and everything passed must be JSON. `targets` cannot be a
 * function, since policy decides in the hub: a tool names the locations in its input instead, `targets: { 'write:fs':
 * '/path' }`, or each capability is judged without a target. Dialects, hooks, `group`, `override` and names of
 * built-in tools are not available; `ctx.cache` is the plugin's own; `ctx.fetch` returns whole answers; `ctx.exec` has
 * only `start`. Tools of one plugin are not isolated from each other.
 * @example
 * const hub = createToolHub({ sources: [isolatePlugin('./plugins/jira.mjs', { options: { project: 'OPS' } })] })
 */
export function isolatePlugin(file: string, settings: IsolateOptions = {}): ToolSource {
  const { options, name = basename(file), fence, access = fence ?? {}, required = false } = settings
  if (fence) process.emitWarning('The option fence of isolatePlugin is called access.', 'DeprecationWarning')
  // Inside the sandbox only the real folder exists.
  const folder = lookAtFolder(dirname(resolve(file)))?.path ?? dirname(resolve(file))
  const path = join(folder, basename(file))
  const packageFolders = packagesAbove(folder)
  const program: PluginProgram = {
    label: escapeLine(name),
    file: path,
    options,
    cwd: folder,
    packageFolders,
    access: { ...access, readable: [...new Set([...codeOf(folder, packageFolders), ...(access.readable ?? [])])] },
  }
  let starting: Promise<IsolatedPlugin> | undefined
  return {
    name: `plugin ${program.label}`,
    required,
    async start(host) {
      starting = loadIsolatedPlugin().then((loaded) => new loaded.IsolatedPlugin(program, host))
      const plugin = await starting
      await plugin.start()
    },
    close: async () => (await starting?.catch(() => undefined))?.close(),
  }
}

/** The real paths that a module needs to be imported: its folder, the packages above it, and tool-hub itself. */
function codeOf(folder: string, packageFolders: readonly string[]): string[] {
  const own = fileURLToPath(ownCodeFolder()).replace(/\/$/, '')
  const folders = [folder, own, ...packageFolders, ...packagesAbove(own)]
  const found = folders.flatMap((each) => lookAtFolder(each)?.path ?? [])
  return [...found, join(dirname(own), 'package.json')]
}

/** Where Node looks for the packages that a module in this folder imports, nearest first. */
function packagesAbove(folder: string): string[] {
  const above = dirname(folder)
  return [join(folder, 'node_modules'), ...(above === folder ? [] : packagesAbove(above))]
}
