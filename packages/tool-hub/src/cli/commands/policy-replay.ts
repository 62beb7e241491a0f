import { basename } from 'node:path'
import { loadConfig } from '@tool-hub/config'
import type { SourcedRule } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { compilePolicy, type Policy } from '@tool-hub/policy'
import { type Explanation, type Hub, type RecordedCall, recordedCalls } from '@tool-hub/runtime/hub'
import { type Judge, judgeAgain, withTokenRules } from '@tool-hub/server'
import type { Command } from 'commander'
import { EXIT, interruptSignal } from '../exit.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/options.ts'
import { print, printJsonLine, readerGone, say } from '../output/print.ts'

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
