import { escapeLine } from '@tool-hub/core/lib'
import { type RecordedShadow, type ShadowDifference, shadowFromRuns } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { EXIT, interruptSignal } from '../exit.ts'
import { runsFolder } from '../hub/find-run.ts'
import { addConfigOption, parseTime } from '../input/options.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJson, readerGone, say } from '../output/print.ts'

interface ShadowFlags {
  readonly config?: string
  readonly since?: string
  readonly json?: boolean
}

const EXAMPLES = `
A config with policy: { rules: …, shadow: ./next.yaml } decides every call twice: by its rules, and by those of next.yaml,
whose decisions have no effect. This command reads from the records where the two differed, whatever next.yaml says now:
use --since to leave out what was decided before you changed it. Calls nothing and changes nothing.
Exit code: 1 if a record cannot be read, else 0.

Examples:
  tool-hub policy shadow
  tool-hub policy shadow --since 1d --json`

/** `policy shadow`: where the rules that are tried differ from those in force. */
export function describePolicyShadow(command: Command): void {
  addConfigOption(command)
    .description('Show which calls the shadow policy decided otherwise than the policy in force.')
    .option('--since <time>', 'Count only calls of this time, such as 1d. Default: all')
    .addHelpText('after', EXAMPLES)
    .action(showShadow)
}

async function showShadow(flags: ShadowFlags): Promise<void> {
  const since = flags.since === undefined ? undefined : Date.now() - parseTime('--since', flags.since)
  const folder = await runsFolder(flags)
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  const report = await shadowFromRuns(folder, { since, signal }).catch((error) => {
    if (signal.aborted) return undefined
    throw error
  })
  if (report === undefined) return
  if (report.unreadable.length > 0) process.exitCode = EXIT.failed
  if (flags.json) await printJson(report)
  else if (report.differences.length > 0) await print(report.differences.map(describeDifference).join('\n'))
  for (const { run, reason } of report.unreadable) say(escapeLine(`${run}: ${reason}. See tool-hub audit verify.`))
  say(escapeLine(summarise(report, folder, flags.since)))
}

function describeDifference({ tool, effect, shadowEffect, count, examples }: ShadowDifference): string {
  const shown = examples.map(({ run, callId, rule, shadowRule, target }) => {
    const on = target === undefined ? '' : ` on ${target}`
    return `  ${escapeLine(`${run} ${callId}${on}`)}\n    in force: ${escapeLine(rule)}\n    shadow:   ${escapeLine(shadowRule)}`
  })
  return [escapeLine(`${effect} -> ${shadowEffect}  ${tool}  ${countNoun(count, 'call')}`), ...shown].join('\n')
}

function summarise({ runs, calls, differing }: RecordedShadow, folder: string, since: string | undefined): string {
  if (runs === 0) return `There are no runs in ${folder}.`
  const when = since === undefined ? '' : ` of the last ${since}`
  return `The shadow policy decided ${differing} of ${countNoun(calls, 'call')}${when} otherwise.`
}
