import type { Command } from 'commander'
import { type CallError, ToolError } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import { EXIT, exitCodeOfFailure } from '../exit-code.ts'
import { findRunId } from '../hub/find-run.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { readToolArguments } from '../input/read-arguments.ts'
import { wrapText } from '../output/fit-line.ts'
import { print, printJson } from '../output/print.ts'
import { describePolicyCheck } from './policy-check.ts'
import { describePolicyReplay } from './policy-replay.ts'
import { describePolicyShow } from './policy-show.ts'
import { describePolicyTest } from './policy-test.ts'

const EXAMPLES = `
Nothing is called and nothing is recorded. The exit code is 0 whatever the answer is; when there is none,
it is 1 because the arguments do not fit, or 2 because there is no such tool.

Examples:
  tool-hub policy explain core/util.time.now
  tool-hub policy explain core/util.hash.sha256Text '{"text":"hi"}'
  tool-hub policy explain core/util.hash.sha256Text --text hi --json
  tool-hub policy explain core/http.fetchText --url https://api.example.org --run run-20261115`

/** `policy`: everything about what tools may do. */
export function describePolicy(command: Command): void {
  command.description('Explain, check, test and show what tools may do.')
  describePolicyExplain(command.command('explain').summary('Say what policy says to a call, and what would change it'))
  describePolicyShow(command.command('show').summary('Show the rules that hold, and where they come from'))
  describePolicyCheck(command.command('check').summary('Find mistakes in config and rules'))
  describePolicyTest(command.command('test').summary('Compare decisions with what you expect'))
  describePolicyReplay(command.command('replay').summary('Decide the calls of a run again, by other rules'))
}

/** `policy explain`: the decision about one call. */
function describePolicyExplain(command: Command): void {
  addConfigOption(command)
    .description(
      'Say what policy says to a call: the effect, the rule, where it was written, and what would change it.',
    )
    .argument('<tool>', 'Name of the tool')
    .argument('[arguments...]', "'{json}', or -, or --name value …")
    .allowUnknownOption()
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--run <id>', 'As in this run, by its id or the beginning of it: what it has read from outside counts')
    .addHelpText('after', EXAMPLES)
    .action(explain)
}

async function explain(tool: string, words: string[], flags: HubFlags & { readonly json?: boolean }): Promise<void> {
  const run = await findRunId(flags)
  const { text, ...facts } = await withHubHere({ ...flags, run }, async (hub) =>
    hub.explain(tool, await readToolArguments(hub, { tool, words, flags })),
  )
  const { error } = facts
  if (error?.code === 'TOOL_NOT_FOUND') throw new ToolError(error.code, error.message, { fix: error.fix })
  if (error) process.exitCode = exitCodeOfNoAnswer(error)
  await (flags.json ? printJson(facts) : print(wrapText(escapeText(text), 6)))
}

/** A refusal, also one of a guard or a list, is an answer. */
function exitCodeOfNoAnswer(error: CallError): number {
  const code = exitCodeOfFailure(error)
  return code === EXIT.denied ? EXIT.ok : code
}
