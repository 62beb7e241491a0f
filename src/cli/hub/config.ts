import { type LoadedConfig, loadConfig } from '../../config/index.ts'
import { escapeText } from '../../lib/index.ts'
import { say, style } from '../output/print.ts'
import { noteConfig } from '../report-error.ts'

const warned = new Set<string>()

/** Loads the config of a command. Prints each of its warnings once. */
export async function readCliConfig({
  config,
  watch = false,
  plugins = true,
  home,
  isQuiet = false,
}: {
  readonly config?: string
  readonly watch?: boolean
  /** `false` loads neither plugins nor the tools folder, so none of their code runs. */
  readonly plugins?: boolean
  readonly home?: string
  /** The command prints the warnings itself. */
  readonly isQuiet?: boolean
}): Promise<LoadedConfig> {
  const loaded = await loadConfig({ file: config, watch, plugins, ...(home !== undefined && { home }) })
  noteConfig(loaded.file)
  if (isQuiet) return loaded
  for (const warning of loaded.warnings.filter((each) => !warned.has(each))) {
    warned.add(warning)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning)}`)
  }
  return loaded
}
