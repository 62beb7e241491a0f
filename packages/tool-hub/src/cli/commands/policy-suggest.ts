import { escapeJson, escapeLine } from '@tool-hub/core/lib'
import type { SuggestedRule } from '@tool-hub/policy'
import { type SuggestReport, suggestFromRuns } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { EXIT, interruptSignal } from '../exit.ts'
import { runsFolder } from '../hub/find-run.ts'
import { allReady } from '../hub/sources.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addConfigOption, parseTime } from '../input/options.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJson, readerGone, say } from '../output/print.ts'

interface SuggestFlags extends HubFlags {
  readonly since?: string
  readonly json?: boolean
}

const MAX_CALLS = 5

const SUGGEST_EXAMPLES = `
Prints the smallest rules that would have covered approved calls: their exact values first, then the domain of a mail
address, the host of a URL or bounds of a number, then the tool; of commands, their words or common first words.
A rule saves at least two approvals. It is tried on every
recorded call of its tool, and left out if it would let through one that was denied or not approved, at any time, or make
one ask that did not. Rules that are wider than the approved values do not hold in runs that read content from outside.
Arguments that no recorded call has used still ask.
Changes nothing: read the rules, then paste those you want below policy: in tool-hub.yaml.
Exit code: 1 if a record cannot be read, else 0.

Examples:
  tool-hub policy suggest
  tool-hub policy suggest --since 7d --json`

/** `policy suggest`: rules that would have made approvals unnecessary. */
export function describePolicySuggest(command: Command): void {
  addConfigOption(command)
    .description('Suggest rules that would have covered the calls that people approved.')
    .option('--since <time>', 'Count only approvals of this time, such as 7d. Default: all')
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', SUGGEST_EXAMPLES)
    .action(suggest)
}

async function suggest(flags: SuggestFlags): Promise<void> {
  const since = flags.since === undefined ? undefined : Date.now() - parseTime('--since', flags.since)
  const folder = await runsFolder(flags)
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  const report = await withHubHere(flags, async (hub) => {
    await allReady(hub)
    return suggestFromRuns(hub, folder, { since, signal }).catch((error) => {
      if (signal.aborted) return undefined
      throw error
    })
  })
  if (report === undefined) return
  if (report.unreadable.length > 0) process.exitCode = EXIT.failed
  if (flags.json) await printJson(report)
  else if (report.rules.length > 0) await print(report.rules.map(describeSuggestion).join('\n'))
  for (const { run, reason } of report.unreadable)
    say(
      escapeLine(`${run}: ${reason}. No rule is suggested while a denial may stand there; see tool-hub audit verify.`),
    )
  for (const tool of report.withheld)
    say(escapeLine(`${tool}: no rule, because the arguments of a call that was not approved are not in the record.`))
  say(escapeLine(summarise(report, folder, flags.since)))
  for (const { reason, approvals } of report.left) say(`${countNoun(approvals, 'approval')} without a rule: ${reason}.`)
}

/** The rule, ready to be pasted below `policy:`, with what it saves as a comment. */
function describeSuggestion({ yaml, saves, calls, open }: SuggestedRule): string {
  const shown = calls.slice(0, MAX_CALLS).map(({ run, callId }) => `${run} ${callId}`)
  const more = calls.length > MAX_CALLS ? ` and ${calls.length - MAX_CALLS} more` : ''
  return [
    escapeLine(`  # saves ${countNoun(saves, 'approval')}: ${shown.join(', ')}${more}`),
    ...(open.length > 0 ? [escapeLine(`  # does not restrict: ${open.join(', ')}`)] : []),
    ...yaml.map((line) => `  - ${escapeJson(line)}`),
  ].join('\n')
}

function summarise({ runs, approvals, rules }: SuggestReport, folder: string, since: string | undefined): string {
  if (runs === 0) return `There are no runs in ${folder}.`
  const when = since === undefined ? '' : ` of the last ${since}`
  if (approvals === 0) return `No approvals${when} are recorded in ${folder}.`
  const found = countNoun(approvals, 'approval')
  if (rules.length === 0) return `No rule would safely have saved two or more of the ${found}${when}.`
  const saved = new Set(rules.flatMap(({ calls }) => calls.map(({ run, callId }) => `${run} ${callId}`))).size
  return `${countNoun(rules.length, 'rule')}, together saving ${saved} of ${found}${when}`
}
