import { lstat, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { configError, lazyModule, type ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { recoverCommands } from '@tool-hub/runtime/hub'
import { distrust } from '@tool-hub/sandbox/system'
import type { LoadedConfig } from './read-config.ts'
import { toOptions } from './to-options.ts'

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
  if (file !== undefined) await recoverAbove(folder)
  const found = file === undefined ? await findConfig(folder) : path.resolve(folder, file)
  if (found === undefined) {
    return {
      file: undefined,
      options: { ...toOptions({}, { base: folder, home: home ?? folder }), policy: [] },
      service: {},
      worker: {},
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

/** The names a config may have. */
export const CONFIG_NAMES = ['yaml', 'yml', 'json5', 'jsonc', 'json', 'mjs'].map((kind) => `tool-hub.${kind}`)

/** The config of the nearest folder from `cwd` upwards; nothing when there is none up to the root. */
export async function findConfig(cwd: string): Promise<string | undefined> {
  await recoverAbove(path.resolve(cwd))
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    const found = await configsIn(folder)
    if (found.length > 1) {
      throw configError(folder, [{ message: `holds ${found.join(' and ')}: which one counts is not clear.` }], {
        hint: 'Keep one of them, or name it with --config.',
      })
    }
    if (found[0] !== undefined) return trusted(folder, found[0])
    if (folder === path.dirname(folder)) return undefined
  }
}

async function configsIn(folder: string): Promise<string[]> {
  const present = await Promise.all(CONFIG_NAMES.map((name) => isThere(path.join(folder, name))))
  return CONFIG_NAMES.filter((_, index) => present[index])
}

/** A broken link counts as present: it must be reported, not skipped for a config further up. */
async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch (cause) {
    const code = errnoOf(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw configError(file, [{ message: `cannot be looked for (${code}).` }], { cause })
  }
}

/**
 * A config is code and rules, and nobody chose this one: it only lies on the way. So no other user may have written
 * it, nor be able to put another in its place. For a link that holds of where it leads, too.
 */
async function trusted(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name)
  await assertTrusted(file, folder)
  const real = await realpath(file).catch((cause) => {
    // A broken link: reading it will say so.
    if (errnoOf(cause) === 'ENOENT') return file
    throw configError(file, [{ message: `leads nowhere (${errnoOf(cause)}).` }], { cause })
  })
  if (real !== file) await assertTrusted(file, path.dirname(real), real)
  return file
}

async function assertTrusted(file: string, folder: string, real: string = file): Promise<void> {
  const stats = await lstat(real)
  // The mode of a link says nothing; who may change it is up to its folder.
  const mode = stats.isSymbolicLink() ? 0 : stats.mode
  const found = distrust({ uid: stats.uid, gid: stats.gid, mode })
  if (found) throw foreign(file, found.why, `${found.command} ${real}`)
  const around = distrust(await stat(folder))
  if (around) throw foreign(file, `lies in ${folder}, which ${around.why}`, `${around.command} ${folder}`)
}

function foreign(file: string, why: string, command: string): ToolError {
  return configError(file, [{ message: `${why}.` }], {
    hint: `If you trust it, name it: --config ${file}. To have it found: ${command}.`,
  })
}
