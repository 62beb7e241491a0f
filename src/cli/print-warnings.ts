import { escapeText } from '../lib/index.ts'
import { say } from './output/print.ts'
import { style } from './output/terminal.ts'

/** Prints the warnings of tool-hub in the style of the command line, each one once. Node prints all others itself. */
export function printWarnings(): void {
  const others = process.listeners('warning')
  const printed = new Set<string>()
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== 'ToolHubWarning') {
      for (const listener of others) listener.call(process, warning)
      return
    }
    if (printed.has(warning.message)) return
    printed.add(warning.message)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning.message)}`)
  })
}
