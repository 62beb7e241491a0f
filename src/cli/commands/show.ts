import type { Command } from 'commander'
import { policyLayers } from '../../hub/policy-layers.ts'
import type { RegisteredTool } from '../../steps/registry.ts'
import { escapeText } from '../../value/escape-text.ts'
import { openCatalogue } from '../hub/catalogue.ts'
import { decideByDefault } from '../hub/decide-by-default.ts'
import { readConfig } from '../hub/read-config.ts'
import { addConfigOption } from '../input/add-options.ts'
import { wrapText } from '../output/fit-line.ts'
import { print, printJson } from '../output/print.ts'
import { style } from '../output/terminal.ts'
import { ownCommand, quoteWord } from '../own-command.ts'

const EXAMPLES = `
Examples:
  tool-hub show core/util.json.select
  tool-hub show core/util.time.now --json | jq .input`

/** `show`: everything about one tool. */
export function describeShow(command: Command): void {
  addConfigOption(command)
    .description(
      'Show everything about a tool: what it is for, its schemas, capabilities, examples, and what policy says to it.',
    )
    .argument('<tool>', 'Name of the tool, or of one of its dialects')
    .addHelpText('after', EXAMPLES)
    .action(show)
}

async function show(name: string, flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const { options } = await readConfig(flags)
  const catalogue = await openCatalogue(options)
  const entry = catalogue.find(name)
  const { visible, why } = catalogue.listing.find((listing) => listing.name === entry.tool.name)!
  const { effect, rule, source, reason, fix } = decideByDefault(policyLayers(options))(entry)
  const facts = {
    ...factsOf(entry),
    visible,
    ...(why && { why }),
    policy: { effect, rule, source, reason, fix: fix.hint },
  }
  await (flags.json ? printJson(facts) : print(describe(facts)))
}

function factsOf({ tool, wire, group, callers, input, output, dialects }: RegisteredTool) {
  const { name, title, description, category, tags, version, capabilities, timeoutMs, examples = [] } = tool
  return {
    name,
    wire,
    ...(title && { title }),
    description,
    group,
    ...(category && { category }),
    ...(tags && { tags }),
    ...(version && { version }),
    capabilities,
    callers,
    ...(timeoutMs && { timeoutMs }),
    input: input.jsonSchema(),
    ...(output && { output: output.jsonSchema() }),
    dialects: [...dialects].map(([name, { kind, input }]) => ({
      kind,
      name,
      ...(input && { input: input.jsonSchema() }),
    })),
    examples,
  }
}

type Facts = ReturnType<typeof factsOf> & {
  readonly visible: boolean
  readonly why?: string
  readonly policy: { readonly effect: string; readonly rule: string; readonly reason: string; readonly fix: string }
}

function describe(facts: Facts): string {
  const { policy, dialects } = facts
  const body = [
    facts.description,
    '',
    `capabilities  ${facts.capabilities.join(', ') || 'none: it is pure'}`,
    `callers       ${facts.callers.join(', ')}`,
    `group         ${facts.group}`,
    ...(facts.tags ? [`tags          ${facts.tags.join(', ')}`] : []),
    ...(facts.version ? [`version       ${facts.version}`] : []),
    `names         ${[facts.wire, ...dialects.map(({ kind, name }) => `${name} (${kind})`)].join(', ')}`,
    `visible       ${facts.visible ? 'yes' : `no: ${facts.why}`}`,
    `policy        ${policy.effect} by ${policy.rule}`,
    `              ${policy.reason}${policy.effect === 'allow' ? '' : ` ${policy.fix}`}`,
  ]
  return [
    heading(facts.title ? `${facts.name}  ${facts.title}` : facts.name),
    ...body.map((line, index) => wrapText(escapeText(line), index === 0 ? 0 : 14)),
    ...section('input', JSON.stringify(facts.input, undefined, 2)),
    ...(facts.output ? section('output', JSON.stringify(facts.output, undefined, 2)) : []),
    ...facts.examples.flatMap(({ input, note }) =>
      section(note ? `example: ${note}` : 'example', callLine(facts.name, input)),
    ),
  ].join('\n')
}

function section(title: string, text: string): string[] {
  return ['', heading(title), escapeText(text)]
}

/** Escaped first: our own colours must survive. */
function heading(text: string): string {
  return style('bold', escapeText(text))
}

function callLine(name: string, input: unknown): string {
  return `${ownCommand()} call ${name} ${quoteWord(JSON.stringify(input))}`
}
