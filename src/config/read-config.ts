import path from 'node:path'
import { codeFiles } from '../disk/code-files.ts'
import { recoverCommands } from '../hub/recover-commands.ts'
import { allowedRoots } from './allowed-roots.ts'
import { type CheckedConfig, checkConfig } from './check-config.ts'
import type { ConfigDocument } from './config-document.ts'
import { findWarnings } from './find-warnings.ts'
import type { LoadedConfig } from './load-config.ts'
import { isFolder, loadPlugins, pluginEntry } from './load-plugins.ts'
import { readDocument } from './read-document.ts'
import { policiesOf, rulesFrom } from './read-rules.ts'
import { resolvePath } from './resolve-path.ts'
import { resolvePlugin } from './resolve-plugin.ts'
import { toOptions } from './to-options.ts'
import { toRetention, toService } from './to-service.ts'

/** Reads, checks and translates one config file, with the policy file and the plugins it names. */
export async function readConfig(
  file: string,
  { cwd, home, watch, plugins: runsCode }: { cwd: string; home: string; watch: boolean; plugins: boolean },
): Promise<LoadedConfig> {
  const document = await readDocument(file, cwd)
  const config = checkConfig(document)
  const policies = await policiesOf(document, config, cwd)
  const policy = rulesFrom(document, config, policies)
  const options = toOptions(config, { base: path.dirname(file), home })
  const allowed = allowedRoots(policies, options.sandbox)
  await recoverCommands(options.data!)
  // Plugins are code: they run only once everything else is known to be right.
  const { plugins, sources, warnings } = await loadPlugins(document, (runsCode && config.plugins) || [], { watch })
  const retention = toRetention(config.runs)
  const own = await ownFiles(document, runsCode ? config : { ...config, plugins: [] })
  return {
    file,
    options: {
      ...options,
      sandbox: { ...options.sandbox, ...allowed.sandbox, protect: [...(options.sandbox?.protect ?? []), ...own] },
      ...(policy.length > 0 ? { policy } : {}),
      ...(plugins.length > 0 ? { plugins } : {}),
      ...(sources.length > 0 ? { sources } : {}),
    },
    service: { ...toService(config.service ?? {}), ...(retention && { retention }) },
    warnings: [...findWarnings(document, config), ...allowed.warnings, ...warnings],
  }
}

/**
 * What decides on tools must not be theirs to change: the config, its policy, and the code of its plugins with all that
 * they import.
 */
async function ownFiles({ file }: ConfigDocument, { policy, plugins = [] }: CheckedConfig): Promise<string[]> {
  const base = path.dirname(file)
  const code = await Promise.all(plugins.map((written) => codeOf(file, pluginEntry(written).use)))
  const policyFile = typeof policy === 'string' ? [resolvePath(base, policy)] : []
  return [...new Set([...(file.endsWith('.mjs') ? codeFiles(file) : [file]), ...policyFile, ...code.flat()])]
}

async function codeOf(configFile: string, use: string): Promise<string[]> {
  if (isFolder(configFile, use)) return [resolvePath(path.dirname(configFile), use)]
  const module = await resolvePlugin(configFile, use)
  // Beside a plugin lies what belongs to it; only the folder of the config itself holds other things as well.
  const isAlone = path.dirname(module) === path.dirname(configFile)
  return [...(isAlone ? [] : [path.dirname(module)]), ...codeFiles(module)]
}
