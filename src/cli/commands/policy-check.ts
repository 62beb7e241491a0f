import type { Command } from 'commander'
import { escapeText } from '../../lib/index.ts'
import type { PolicyWarning } from '../../policy/index.ts'
import { EXIT } from '../exit-code.ts'
import { allReady } from '../hub/all-ready.ts'
import { readCliConfig } from '../hub/read-config.ts'
import { withHubOf } from '../hub/with-hub.ts'
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
    .description(
      'Find mistakes in config and rules: names that no tool has, rules that never decide, paths that tools cannot reach.',
    )
    .addHelpText('after', EXAMPLES)
    .action(check)
}

async function check(flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const { options, warnings } = await readCliConfig({ ...flags, isQuiet: true })
  const ofRules = await withHubOf(options, async (hub) => {
    await allReady(hub)
    return hub.check()
  })
  const doubts = [...warnings.map(ofConfig), ...ofRules]
  if (doubts.some(({ level }) => level === 'error')) process.exitCode = EXIT.usage
  if (flags.json) return printJson(doubts)
  if (doubts.length === 0) return say('Nothing is wrong with config and rules.')
  await print(doubts.map(describe).join('\n'))
}

/** `policy.yaml:13 allowed_paths: …`, or `tool-hub.mjs#redact.env …` where lines are not known. */
const PLACED = /^(.*?(?:(?::\d+){1,2}|#\S+)) (.+)$/s

/** What is allowed but hardly meant in the config, in the form of a doubt about a rule. */
function ofConfig(warning: string): PolicyWarning {
  const [, source = 'config', message = warning] = PLACED.exec(warning) ?? []
  return { level: 'warning', source, message }
}

function describe({ level, source, message, hint }: PolicyWarning): string {
  const mark = style(level === 'error' ? 'red' : 'yellow', level)
  return wrapText(
    `${escapeText(source)}: ${mark}: ${escapeText(message)}${hint ? `\n  fix: ${escapeText(hint)}` : ''}`,
    4,
  )
}
