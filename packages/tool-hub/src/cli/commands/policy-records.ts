import { basename } from 'node:path'
import { loadConfig } from '@tool-hub/config'
import type { SourcedRule } from '@tool-hub/core'
import { escapeJson, escapeLine } from '@tool-hub/core/lib'
import { compilePolicy, type Policy, type SuggestedRule } from '@tool-hub/policy'
import {
  type Explanation,
  type Hub,
  type RecordedCall,
  type RecordedShadow,
  recordedCalls,
  type ShadowDifference,
  type SuggestReport,
  shadowFromRuns,
  suggestFromRuns,
} from '@tool-hub/runtime/hub'
import { type Judge, judgeAgain, withTokenRules } from '@tool-hub/server'
import type { Command } from 'commander'
import { EXIT, interruptSignal } from '../exit.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { allReady } from '../hub/sources.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addConfigOption, parseTime } from '../input/options.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJson, printJsonLine, readerGone, say } from '../output/print.ts'

interface ReplayFlags extends HubFlags {
  readonly policy?: string
  readonly json?: boolean
}

/** A call that would be decided otherwise. */
interface Difference extends Pick<Explanation, 'rule' | 'source' | 'reason'> {
  readonly callId: string
  readonly seq: number
  readonly tool: string
  readonly before: string
  readonly after: string
}

const REPLAY_EXAMPLES = `
Calls nothing and records nothing. With --policy, the rules of your config are compared with those of the file, both in
the present state of files. Without it, the recorded decisions are compared with those of your config now, and files that
were created since can make a difference. What the user had said, the values that were approved and whether the run had
read content from outside are those of the time of the call; where the record does not show them, the stricter decision
counts. What the rules of a token denied stays denied: those are not part of the policy. A call is skipped
if its arguments were too large for the record or contained a secret, or if its tool no longer exists.
Exit code: 1 if a call would be decided differently, else 0.

Examples:
  tool-hub policy replay run-20261115-093000-1a2b3c4d
  tool-hub policy replay run-20261115 --policy stricter.yaml --json`

/** `policy replay`: recorded calls, decided by other rules. */
export function describePolicyReplay(command: Command): void {
  addConfigOption(command)
    .description('Show which calls of a run other rules would have decided differently.')
    .argument('<run>', 'Id of the run or the beginning of it')
    .option('--policy <file>', 'Use the rules of this config or policy.yaml instead of those of your config')
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', REPLAY_EXAMPLES)
    .action(replay)
}

async function replay(run: string, flags: ReplayFlags): Promise<void> {
  const folder = await findRun(await runsFolder(flags), run)
  const others = flags.policy === undefined ? undefined : await rulesOf(flags.policy)
  await withHubHere(flags, (hub) => judgeAll(hub, folder, others, flags))
}

async function judgeAll(
  hub: Hub,
  folder: string,
  others: readonly SourcedRule[] | undefined,
  flags: ReplayFlags,
): Promise<void> {
  const policy = others && compilePolicy({ ...hub.policyLayers(), owner: others })
  const stop = AbortSignal.any([interruptSignal(), readerGone])
  const counts = { calls: 0, skipped: 0, changed: 0 }
  for await (const call of recordedCalls(folder)) {
    if (stop.aborted) return
    counts.calls++
    const judged = await judge(hub, call, { run: basename(folder), policy })
    if (judged === undefined) counts.skipped++
    if (!judged || judged.before === judged.after.effect) continue
    counts.changed++
    const { effect: after, rule, source, reason } = judged.after
    const { callId, seq, tool } = call
    await printDifference({ callId, seq, tool, before: judged.before, after, rule, source, reason }, flags)
  }
  if (counts.changed > 0) process.exitCode = EXIT.failed
  for (const base of basesOf(others)) say(escapeLine(`Relative paths in ${flags.policy} are below ${base}.`))
  say(`${counts.changed} of ${counts.calls} calls would be decided differently, ${counts.skipped} skipped`)
}

/** By other rules, both ways now; else as it was then, and now. */
async function judge(
  hub: Hub,
  call: RecordedCall,
  { run, policy }: { readonly run: string; readonly policy: Policy | undefined },
): Promise<{ before: string; after: Pick<Explanation, 'effect' | 'rule' | 'source' | 'reason'> } | undefined> {
  const explain: Judge = (tool, input, options) => hub.explain(tool, input, options)
  if (policy) return judgeAgain(explain, call, { run, policy })
  const { tool, args, caller, callerKind, effect, moment: asOf } = call
  if (args === undefined || effect === undefined) return undefined
  const after = await explain(tool, args, { run, caller, callerKind, asOf })
  return after.error?.code === 'TOOL_NOT_FOUND' ? undefined : { before: effect, after: withTokenRules(call, after) }
}

async function printDifference(difference: Difference, { json }: ReplayFlags): Promise<void> {
  if (json) return printJsonLine(difference)
  const { seq, tool, before, after, rule } = difference
  await print(escapeLine(`${before} -> ${after}  ${tool}  line ${seq}, by ${rule}`))
}

/** The folders of rules with relative paths, if they are not the present one: the rules then name other files. */
function basesOf(rules: readonly SourcedRule[] = []): string[] {
  const isRelative = (pattern: string) => !/^(?:[/~]|[a-z][\w+.-]*:)/i.test(pattern) && pattern.includes('/')
  const named = rules.filter(({ rule }) => [rule.on ?? []].flat().some(isRelative))
  return [...new Set(named.map(({ base }) => base))].filter((base) => base !== process.cwd())
}

/** Only its rules: no code that a config names is run for a look at it. */
async function rulesOf(file: string): Promise<readonly SourcedRule[]> {
  const { options } = await loadConfig({ file, plugins: false })
  return (options.policy ?? []) as readonly SourcedRule[]
}

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
  say(escapeLine(summariseSuggestions(report, folder, flags.since)))
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

function summariseSuggestions(
  { runs, approvals, rules }: SuggestReport,
  folder: string,
  since: string | undefined,
): string {
  if (runs === 0) return `There are no runs in ${folder}.`
  const when = since === undefined ? '' : ` of the last ${since}`
  if (approvals === 0) return `No approvals${when} are recorded in ${folder}.`
  const found = countNoun(approvals, 'approval')
  if (rules.length === 0) return `No rule would safely have saved two or more of the ${found}${when}.`
  const saved = new Set(rules.flatMap(({ calls }) => calls.map(({ run, callId }) => `${run} ${callId}`))).size
  return `${countNoun(rules.length, 'rule')}, together saving ${saved} of ${found}${when}`
}
