import path from 'node:path'
import type { HubOptions } from '../core/options.ts'
import { recoverCommands } from '../hub/recover-commands.ts'
import { lazyModule } from '../lib/lazy-module.ts'
import { findConfig } from './find-config.ts'
import { toOptions } from './to-options.ts'
import type { ServiceOptions } from './to-service.ts'

const loadReadConfig = lazyModule(() => import('./read-config.ts'))

/** Where to look for the config. */
export interface LoadConfigOptions {
  /** Searched upwards. Default: the working folder. */
  readonly cwd?: string
  /** Taken instead of searching; relative to `cwd`. */
  readonly file?: string
  /** Loads the tools of the folder `tools` again whenever they change. Default: false. */
  readonly watch?: boolean
  /** Whether plugins and the folder `tools` are loaded, which runs their code. Default: true. */
  readonly plugins?: boolean
  /** Where `runs` and `data` are, unless the config names folders. Default: next to the config that was found; with `file`, in `cwd`. */
  readonly home?: string
}

/** A config, ready for `createToolHub`. */
export interface LoadedConfig {
  /** Absolute; nothing when there is no config and the defaults hold. */
  readonly file: string | undefined
  /** Pass them to `createToolHub`, with your own additions. */
  readonly options: HubOptions
  /** How `tool-hub serve` is reached. */
  readonly service: ServiceOptions
  /** What is allowed but hardly meant, each with its place. */
  readonly warnings: readonly string[]
}

/**
 * Finds and reads `tool-hub.yaml` (or json5, jsonc, json, mjs) or a `policy.yaml` that is named.
 * @example
 * const { options } = await loadConfig()
 * const hub = createToolHub({ ...options, tools: [saveNote] })
 */
export async function loadConfig({
  cwd = process.cwd(),
  file,
  watch = false,
  plugins = true,
  home,
}: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const folder = path.resolve(cwd)
  await recoverAbove(folder)
  const found = file === undefined ? await findConfig(folder) : path.resolve(folder, file)
  if (found === undefined) {
    return {
      file: undefined,
      options: toOptions({}, { base: folder, home: home ?? folder }),
      service: {},
      warnings: [],
    }
  }
  // The schema library is loaded only when there is something to check.
  const { readConfig } = await loadReadConfig()
  const own = file === undefined ? path.dirname(found) : folder
  return readConfig(found, { cwd: folder, home: home ?? own, watch, plugins })
}

/** A config that a command has left while its hub was killed must not be found. */
async function recoverAbove(folder: string): Promise<void> {
  await recoverCommands(path.join(folder, '.tool-hub'))
  if (path.dirname(folder) !== folder) await recoverAbove(path.dirname(folder))
}
