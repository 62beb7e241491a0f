import type { Command } from 'commander'
import type { PolicyWarning } from '../../policy/check-policy.ts'
import { escapeText } from '../../value/escape-text.ts'
import { EXIT } from '../exit-code.ts'
import { allReady } from '../hub/all-ready.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { wrapText } from '../output/fit-line.ts'
import { print, printJson, say } from '../output/print.ts'
import { style } from '../output/terminal.ts'

const EXAMPLES = `
Exit code: 2 when something is an error (a config that cannot be used, an allow that grants nothing), else 0.

Examples:
  tool-hub policy check
  tool-hub policy check --config staging.yaml --json`

/** `policy check`: what cannot be meant. */
export function describePolicyCheck(command: Command): void {
  addConfigOption(command)
    .description('Find mistakes in config and rules: names that no tool has, rules that never decide.')
    .addHelpText('after', EXAMPLES)
    .action(check)
}

async function check(flags: HubFlags & { readonly json?: boolean }): Promise<void> {
  const doubts = await withHub(flags, async (hub) => {
    await allReady(hub)
    return hub.check()
  })
  if (doubts.some(({ level }) => level === 'error')) process.exitCode = EXIT.usage
  if (flags.json) return printJson(doubts)
  if (doubts.length === 0) return say('Nothing is wrong with config and rules.')
  await print(doubts.map(describe).join('\n'))
}

function describe({ level, source, message, hint }: PolicyWarning): string {
  const mark = style(level === 'error' ? 'red' : 'yellow', level)
  return wrapText(
    `${escapeText(source)}: ${mark}: ${escapeText(message)}${hint ? `\n  fix: ${escapeText(hint)}` : ''}`,
    4,
  )
}
