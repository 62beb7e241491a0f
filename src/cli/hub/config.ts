import { type LoadedConfig, loadConfig } from '../../config/index.ts'
import { escapeText } from '../../lib/index.ts'
import { say, style } from '../output/print.ts'
import { noteConfig } from '../report-error.ts'

const told = new Set<string>()

/** The config a command works with; what is hardly meant in it is said, once. */
export async function readCliConfig({
  config,
  watch = false,
  plugins = true,
  home,
  isQuiet = false,
}: {
  readonly config?: string
  readonly watch?: boolean
  /** False leaves out the plugins and the tools folder: no code of theirs runs. */
  readonly plugins?: boolean
  readonly home?: string
  /** The command tells the warnings itself. */
  readonly isQuiet?: boolean
}): Promise<LoadedConfig> {
  const loaded = await loadConfig({ file: config, watch, plugins, ...(home !== undefined && { home }) })
  noteConfig(loaded.file)
  if (isQuiet) return loaded
  for (const warning of loaded.warnings.filter((each) => !told.has(each))) {
    told.add(warning)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning)}`)
  }
  return loaded
}
