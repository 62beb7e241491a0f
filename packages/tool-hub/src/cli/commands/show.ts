import { escapeText } from '@tool-hub/core/lib'
import type { FoundTool } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { openCatalogue } from '../hub/catalogue.ts'
import { readCliConfig } from '../hub/config.ts'
import { type CapabilityVerdict, judgeTools, type ToolVerdict } from '../hub/judge-tool.ts'
import { addConfigOption } from '../input/options.ts'
import { ownCommand, quoteShellWord } from '../invocation.ts'
import { wrapText } from '../output/layout.ts'
import { print, printJson, style } from '../output/print.ts'

const EXAMPLES = `
Examples:
  tool-hub show core/util.json.select
  tool-hub show grep                    as models see it in the coding dialect
  tool-hub show core/util.time.now --json | jq .input`

/** `show`: everything about one tool. */
export function describeShow(command: Command): void {
  addConfigOption(command)
    .description(
      'Show everything about a tool: its purpose, schemas, capabilities, examples, and what the policy says about it.',
    )
    .argument('<tool>', 'Name of the tool, canonical or in a dialect')
    .addHelpText('after', EXAMPLES)
    .action(show)
}

async function show(name: string, flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const { options } = await readCliConfig(flags)
  const catalogue = await openCatalogue(options)
  const found = catalogue.find(name)
  const { visible, why } = catalogue.listing.find((listing) => listing.name === found.entry.tool.name)!
  const facts = {
    ...factsOf(found, name),
    visible,
    ...(why && { why }),
    policy: judgeTools(options)(found.entry),
  }
  await (flags.json ? printJson(facts) : print(describe(facts)))
}

/** Under the name of a dialect, what a model sees of it there. */
function factsOf(
  {
    entry: { tool, wire, kind, group, capabilityList: capabilities, callers, input, output, dialects },
    dialect,
  }: FoundTool,
  asked: string,
) {
  const { name, title, category, tags, version, timeoutMs, examples = [] } = tool
  return {
    name,
    ...(dialect && { as: { name: asked, kind: dialect.kind } }),
    wire,
    ...(title && { title }),
    description: dialect?.dialect.description ?? tool.description,
    kind,
    group,
    ...(category && { category }),
    ...(tags && { tags }),
    ...(version && { version }),
    capabilities,
    callers,
    ...(timeoutMs && { timeoutMs }),
    input: (dialect?.input ?? input).jsonSchema(),
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
  readonly policy: ToolVerdict
}

function describe(facts: Facts): string {
  const { policy, dialects } = facts
  const body = [
    facts.description,
    '',
    `capabilities  ${facts.capabilities.join(', ') || 'none: it is pure'}`,
    `callers       ${facts.callers.join(', ')}`,
    `kind          ${facts.kind}`,
    `group         ${facts.group}`,
    ...(facts.tags ? [`tags          ${facts.tags.join(', ')}`] : []),
    ...(facts.version ? [`version       ${facts.version}`] : []),
    `names         ${[facts.name, facts.wire, ...dialects.map(({ kind, name }) => `${name} (${kind})`)].join(', ')}`,
    ...(dialects.length > 0 && !facts.as
      ? [`              ${ownCommand()} show ${dialects[0]!.name} shows what it takes under that name`]
      : []),
    `visible       ${facts.visible ? 'yes' : `no: ${facts.why}`}`,
    ...policy.capabilities
      .flatMap(describeVerdict)
      .map((line, index) => `${index === 0 ? 'policy' : ''}`.padEnd(14) + line),
  ]
  return [
    heading([facts.as?.name ?? facts.name, facts.title].filter(Boolean).join('  ')),
    ...body.map((line, index) => wrapText(escapeText(line), index === 0 ? 0 : 14)),
    ...section(facts.as ? `input of ${facts.as.name}` : 'input', JSON.stringify(facts.input, undefined, 2)),
    ...(facts.output ? section('output', JSON.stringify(facts.output, undefined, 2)) : []),
    ...facts.examples.flatMap(({ input, note }) =>
      section(note ? `example: ${note}` : 'example', callLine(facts.name, input)),
    ),
  ].join('\n')
}

/** The effect and its rule; below it why, and what would change it. */
function describeVerdict({ capability, effect, rule, reason, only, but, fix }: CapabilityVerdict): string[] {
  const what = capability === undefined ? '' : `${capability}: `
  const bounds = [only && `only for ${only}`, but].filter(Boolean).map((bound) => `; ${bound}`)
  return [`${what}${effect} by ${rule}${bounds.join('')}`, `  ${reason}${fix === undefined ? '' : ` ${fix}`}`]
}

function section(title: string, text: string): string[] {
  return ['', heading(title), escapeText(text)]
}

/** Escaped first: our own colours must survive. */
function heading(text: string): string {
  return style('bold', escapeText(text))
}

function callLine(name: string, input: unknown): string {
  return `${ownCommand()} call ${name} ${quoteShellWord(JSON.stringify(input))}`
}
