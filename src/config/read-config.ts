import { existsSync } from 'node:fs'
import path from 'node:path'
import { lazyModule } from '../disk/lazy-module.ts'
import type { HubOptions } from '../options.ts'
import type { SourcedRule } from '../rule.ts'
import type { ToolSource } from '../source.ts'
import { type CheckedConfig, checkConfig, checkPolicyFile } from './check-config.ts'
import type { ConfigDocument } from './config-document.ts'
import { findWarnings } from './find-warnings.ts'
import type { LoadedConfig } from './load-config.ts'
import { loadPlugins, pluginEntry } from './load-plugins.ts'
import { readDocument } from './read-document.ts'
import { resolvePath } from './resolve-path.ts'
import { resolvePlugin } from './resolve-plugin.ts'
import { toOptions } from './to-options.ts'
import { toPolicyRules, toRules } from './to-rules.ts'
import { toService } from './to-service.ts'

const loadFolderSource = lazyModule(() => import('../sources/plugins/folder-source.ts'))

/** Reads, checks and translates one config file, with the policy file and the plugins it names. */
export async function readConfig(
  file: string,
  { cwd, home, watch, plugins: runsCode }: { cwd: string; home: string; watch: boolean; plugins: boolean },
): Promise<LoadedConfig> {
  const document = await readDocument(file, cwd)
  const config = checkConfig(document)
  const policy = await rulesOf(document, config, cwd)
  // Plugins are code: they run only once everything else is known to be right.
  const { plugins, sources, warnings } = await loadPlugins(document, (runsCode && config.plugins) || [])
  const options = toOptions(config, { base: path.dirname(file), home })
  const all = [...sources, ...(runsCode ? await folderSources(options, watch) : [])]
  const own = await ownFiles(document, runsCode ? config : { ...config, plugins: [] })
  return {
    file,
    options: {
      ...options,
      sandbox: { ...options.sandbox, protect: [...(options.sandbox?.protect ?? []), ...own] },
      ...(policy.length > 0 ? { policy } : {}),
      ...(plugins.length > 0 ? { plugins } : {}),
      ...(all.length > 0 ? { sources: all } : {}),
    },
    service: toService(config.service ?? {}),
    warnings: [...findWarnings(document, config), ...warnings],
  }
}

/** The tools that stand in a folder of their own beside what outlives runs; whoever may write there may write the config. */
async function folderSources({ data }: HubOptions, watch: boolean): Promise<ToolSource[]> {
  const folder = path.join(data!, 'tools')
  if (!existsSync(folder)) return []
  const { fromFolder } = await loadFolderSource()
  return [fromFolder(folder, { watch })]
}

/** What decides on tools must not be theirs to change: the config, its policy, and the code of its plugins. */
async function ownFiles({ file }: ConfigDocument, { policy, plugins = [] }: CheckedConfig): Promise<string[]> {
  const base = path.dirname(file)
  const names = plugins.map((written) => pluginEntry(written).use)
  const modules = await Promise.all(names.map((name) => resolvePlugin(file, name)))
  // A plugin imports what stands beside it; only the folder of the config itself is everybody's.
  const code = modules.map((module) => (path.dirname(module) === base ? module : path.dirname(module)))
  return [...new Set([file, ...(typeof policy === 'string' ? [resolvePath(base, policy)] : []), ...code])]
}

async function rulesOf(
  document: ConfigDocument,
  { policy, policyTools }: CheckedConfig,
  cwd: string,
): Promise<SourcedRule[]> {
  const byTool = policyTools ? toPolicyRules(document, policyTools) : []
  if (typeof policy !== 'string') return [...byTool, ...toRules(document, policy ?? [])]
  const policyDocument = await readDocument(resolvePath(path.dirname(document.file), policy), cwd)
  return [...byTool, ...toPolicyRules(policyDocument, checkPolicyFile(policyDocument))]
}
