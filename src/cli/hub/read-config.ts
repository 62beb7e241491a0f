import { type LoadedConfig, loadConfig } from '../../config/load-config.ts'
import { escapeText } from '../../value/escape-text.ts'
import { say } from '../output/print.ts'
import { style } from '../output/terminal.ts'

/** The config a command works with; what is hardly meant in it is said. */
export async function readConfig({ config }: { readonly config?: string }): Promise<LoadedConfig> {
  const loaded = await loadConfig({ file: config })
  for (const warning of loaded.warnings) say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning)}`)
  return loaded
}
