#!/usr/bin/env node
import { escapeText } from '../lib/escape-text.ts'
import { say } from './output/print.ts'
import { style } from './output/terminal.ts'
import { runCli } from './run-cli.ts'

tellWarnings()
process.exit(await runCli(process.argv.slice(2)))

/** Tells the warnings of tool-hub as this command line tells everything, each once; others stay Node's. */
export function tellWarnings(): void {
  const others = process.listeners('warning')
  const told = new Set<string>()
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== 'ToolHubWarning') {
      for (const listener of others) listener.call(process, warning)
      return
    }
    if (told.has(warning.message)) return
    told.add(warning.message)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning.message)}`)
  })
}
