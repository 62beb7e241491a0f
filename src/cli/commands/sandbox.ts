import type { Command } from 'commander'
import { escapeText } from '../../lib/index.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { wrapText } from '../output/fit-line.ts'
import { print, printJson } from '../output/print.ts'

interface ExplainFlags extends HubFlags {
  readonly json?: boolean
}

const EXAMPLES = `
Nothing is run but what finds out how strong a sandbox this machine has. With a command, what policy says to it comes first.

Examples:
  tool-hub sandbox explain
  tool-hub sandbox explain --root . -- npm test
  tool-hub sandbox explain --json`

/** `sandbox explain`: what a command could see, write and reach. */
export function describeSandbox(command: Command): void {
  command.description('Look at the sandbox that commands run in.')
  addConfigOption(command.command('explain'))
    .description('Say exactly what a command could see, write, reach and use here.')
    .argument('[words...]', 'A command, after --, whose policy decision is shown too')
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', EXAMPLES)
    .action(explain)
}

async function explain(words: string[], flags: ExplainFlags): Promise<void> {
  await withHubHere(flags, async (hub) => {
    const verdict = words.length === 0 ? undefined : await hub.explain('core/exec.run', { argv: words })
    const { lines, ...sandbox } = await hub.describeSandbox()
    if (flags.json) return printJson({ ...(verdict && { policy: verdict }), sandbox })
    const told = [...(verdict ? [verdict.text, ''] : []), ...lines]
    await print(wrapText(escapeText(told.join('\n')), 4))
  })
}
