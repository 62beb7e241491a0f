import { dirname, resolve } from 'node:path'
import { findConfig, type LoadedConfig, loadConfig } from '@tool-hub/config'
import { escapeText } from '@tool-hub/core/lib'
import { UsageError } from '../exit.ts'
import { say, style } from '../output/print.ts'
import { noteConfig } from '../report-error.ts'

const warned = new Set<string>()

/** Loads the config of a command. Prints each of its warnings once. */
export async function readCliConfig({
  config,
  root,
  watch = false,
  plugins = true,
  home,
  isQuiet = false,
}: {
  readonly config?: string
  /** The folder that tools use: its config counts if the current folder has none. */
  readonly root?: string
  readonly watch?: boolean
  /** `false` loads neither plugins nor the tools folder, so none of their code runs. */
  readonly plugins?: boolean
  readonly home?: string
  /** The command prints the warnings itself. */
  readonly isQuiet?: boolean
}): Promise<LoadedConfig> {
  const found = config === undefined && root !== undefined ? await configOfRoot(root) : undefined
  const place = found === undefined ? { file: config, home } : { file: found, home: dirname(found) }
  const loaded = await loadConfig({ ...place, watch, plugins })
  noteConfig(loaded.file)
  if (isQuiet) return loaded
  for (const warning of loaded.warnings.filter((each) => !warned.has(each))) {
    warned.add(warning)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning)}`)
  }
  return loaded
}

/**
 * The config of the folder that `--root` names, if only that folder has one. Its rules must not be left out because the
 * command was started somewhere else.
 */
export async function configOfRoot(root: string): Promise<string | undefined> {
  const own = await findConfig(resolve(root))
  const here = await findConfig(process.cwd())
  if (own === undefined || own === here) return undefined
  if (here === undefined) return own
  throw new UsageError(
    `${own} and ${here} both apply: the folder of --root has a config, and so has the current folder.`,
    `Name the one that counts: --config ${own}, or --config ${here}.`,
  )
}
