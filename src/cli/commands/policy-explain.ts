import type { Command } from 'commander'
import { escapeText } from '../escape-text.ts'
import { EXIT } from '../exit-code.ts'
import { addConfigOption } from '../hub-options.ts'
import { type HubFlags, openHub } from '../open-hub.ts'
import { print, printJson } from '../print.ts'
import { readArguments } from '../read-arguments.ts'

const EXAMPLES = `
Nothing is called and nothing is recorded. The exit code is 0 whatever the answer is, and 1 when there is none
because the tool does not exist or the arguments do not fit.

Examples:
  tool-hub policy explain notes.save '{"path":"a.md","text":"hi"}'
  tool-hub policy explain notes.save --path ~/.ssh/config --text hi --json`

/** `policy explain`: the decision about one call. */
export function describePolicyExplain(command: Command): void {
  addConfigOption(command)
    .description(
      'Say what policy says to a call: the effect, the rule, where it was written, and what would change it.',
    )
    .argument('<tool>', 'Name of the tool')
    .argument('[arguments...]', "'{json}', or -, or --name value …")
    .allowUnknownOption()
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', EXAMPLES)
    .action(explain)
}

async function explain(tool: string, words: string[], flags: HubFlags & { readonly json?: boolean }): Promise<void> {
  const hub = await openHub(flags)
  const explanation = await hub.explain(tool, await readArguments(hub, tool, words))
  if (explanation.error) process.exitCode = EXIT.failed
  const { text, ...facts } = explanation
  await (flags.json ? printJson(facts) : print(escapeText(text)))
}
