import type { SourcedRule } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { describeConstraints, describeRule, describeSource, type PolicyLayers, STRICTNESS } from '@tool-hub/policy'
import { policyLayers } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { openCatalogue } from '../hub/catalogue.ts'
import { readCliConfig } from '../hub/config.ts'
import { whyPrivate, withCurrentRoot } from '../hub/folders.ts'
import { judgeTools, NEEDED_BY, type ToolVerdict } from '../hub/judge-tool.ts'
import { addConfigOption } from '../input/options.ts'
import { table, wrapText } from '../output/layout.ts'
import { print, printJson, style } from '../output/print.ts'

const EXAMPLES = `
Examples:
  tool-hub policy show
  tool-hub policy show --all            with every path and host of every rule
  tool-hub policy show --json`

/** `policy show`: the effective policy. */
export function describePolicyShow(command: Command): void {
  addConfigOption(command)
    .description('Show the effective policy: every rule with its source, the sandbox, and what it means for each tool.')
    .option('--all', 'Show all targets of each rule, not only the first')
    .addHelpText('after', EXAMPLES)
    .action(show)
}

interface Flags {
  readonly config?: string
  readonly all?: boolean
  readonly json?: boolean
}

async function show(flags: Flags): Promise<void> {
  const { options: written } = await readCliConfig(flags)
  const options = withCurrentRoot(written)
  const catalogue = await openCatalogue(options)
  const layers = { ...policyLayers(options), requests: catalogue.requests }
  const judge = judgeTools(options)
  const tools = catalogue.tools.map((entry) => ({ tool: entry.tool.name, ...judge(entry) }))
  const { sandbox = {}, visibility = {} } = options
  if (flags.json) return printJson({ ...facts(layers), sandbox, visibility, tools })
  const hosts = sandbox.network?.join(', ') || 'no host'
  const section = (title: string, rules: readonly SourcedRule[] = []) => [
    ...heading(title),
    ...lines(rules.map((rule) => describe(flags.all ? withAllTargets(rule) : rule, hosts))),
  ]
  const rows = tools.map((verdict) => [`  ${verdict.tool}`, summarise(verdict)])
  await print(
    [
      ...section('Always, whatever else is written', layers.always),
      ...section('Yours', layers.owner),
      ...section('Where none of yours is about it', layers.defaults),
      ...heading('Wishes of skills, which grant nothing'),
      ...lines((layers.requests ?? []).map(({ skill, wants }) => `${skill}: ${wants.join(', ')}`)),
      ...heading('Sandbox'),
      ...lines([
        `root: ${sandbox.root ?? `the run's own workspace${whyPrivate(options)}`}`,
        ...(sandbox.roots ?? []).map(({ path, mode }) => `${mode}: ${path}`),
        `network: ${hosts}`,
      ]),
      ...heading('What that means for each tool, before its targets are known'),
      table(rows),
      ...lines(footnotes(tools)),
    ]
      .join('\n')
      .trimStart(),
  )
}

/** One line: the rule where there is one, else what each capability gets, the strictest first: a narrow terminal cuts. */
function summarise({ capabilities }: ToolVerdict): string {
  const [first, second] = capabilities
  if (second === undefined && !first!.but) return `${first!.effect}  ${first!.rule}`
  return capabilities
    .toSorted((a, b) => STRICTNESS[b.effect] - STRICTNESS[a.effect])
    .map(({ capability, effect, only, but }) => `${capability} ${effect}${only ? '*' : ''}${but ? '†' : ''}`)
    .join(' · ')
}

function footnotes(tools: readonly ToolVerdict[]): string[] {
  const doubts = tools.flatMap(({ capabilities }) => capabilities.flatMap(({ but }) => but ?? []))
  return [
    ...[...NEEDED_BY].map(([capability, calls]) => `* ${capability}: only for ${calls}`),
    ...[...new Set(doubts)].map((but) => `† ${but}`),
  ]
}

function facts({ always = [], owner = [], defaults = [], requests = [] }: PolicyLayers) {
  return { always: always.map(fact), owner: owner.map(fact), defaults: defaults.map(fact), requests }
}

function fact(sourced: SourcedRule) {
  return { ...sourced.rule, source: describeSource(sourced.source) }
}

/** The rule, then what it limits and why. */
function describe(sourced: SourcedRule, hosts: string): string {
  const { allow, limit, reason } = sourced.rule
  const notes = [
    allow === 'network' && `hosts, by sandbox.network: ${hosts}`,
    limit && `limit: ${describeConstraints(limit)}`,
    reason && `reason: ${reason}`,
  ]
  return [describeRule(sourced), ...notes.filter(Boolean).map((note) => `    ${note}`)].join('\n')
}

/** A list of targets is reported in short, one text is reported whole. */
function withAllTargets(sourced: SourcedRule): SourcedRule {
  const { on, except } = sourced.rule
  const rule = {
    ...sourced.rule,
    ...(on !== undefined && { on: [on].flat().join(', ') }),
    ...(except !== undefined && { except: [except].flat().join(', ') }),
  }
  return { ...sourced, rule }
}

function heading(title: string): string[] {
  return ['', style('bold', title)]
}

function lines(texts: readonly string[]): string[] {
  return texts.length === 0 ? ['  none'] : texts.flatMap((text) => text.split('\n').map(indent))
}

function indent(text: string): string {
  return wrapText(`  ${escapeLine(text)}`, text.startsWith(' ') ? 6 : 4)
}
