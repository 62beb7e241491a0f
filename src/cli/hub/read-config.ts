import { type LoadedConfig, loadConfig } from '../../config/load-config.ts'
import { escapeText } from '../../value/escape-text.ts'
import { say } from '../output/print.ts'
import { style } from '../output/terminal.ts'

const told = new Set<string>()

/** The config a command works with; what is hardly meant in it is said, once. */
export async function readConfig({
  config,
  watch = false,
}: {
  readonly config?: string
  readonly watch?: boolean
}): Promise<LoadedConfig> {
  const loaded = await loadConfig({ file: config, watch })
  for (const warning of loaded.warnings.filter((each) => !told.has(each))) {
    told.add(warning)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning)}`)
  }
  return loaded
}
