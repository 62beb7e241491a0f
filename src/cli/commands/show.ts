import type { Command } from 'commander'
import type { AnyTool } from '../../define.ts'
import { policyLayers } from '../../hub/policy-layers.ts'
import { didYouMean, groupOf, toWireName } from '../../names.ts'
import { compileSchema } from '../../schema/compile-schema.ts'
import { type Catalogue, openCatalogue } from '../catalogue.ts'
import { decideByDefault } from '../decide-by-default.ts'
import { escapeText } from '../escape-text.ts'
import { addConfigOption } from '../hub-options.ts'
import { namesOf } from '../names-of.ts'
import { print, printJson } from '../print.ts'
import { readConfig } from '../read-config.ts'
import { style } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

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
  const tool = catalogue.get(name)
  if (!tool) throw unknown(catalogue, name)
  const { visible, why } = catalogue.list().find((listing) => listing.name === tool.name)!
  const { effect, rule, source, reason, fix } = decideByDefault(policyLayers(options))(tool)
  const facts = {
    ...factsOf(tool),
    visible,
    ...(why && { why }),
    policy: { effect, rule, source, reason, fix: fix.hint },
  }
  await (flags.json ? printJson(facts) : print(describe(facts)))
}

function unknown(catalogue: Catalogue, name: string): UsageError {
  const names = catalogue.list().flatMap((listing) => namesOf(catalogue.get(listing.name)!))
  return new UsageError(
    `There is no tool ${JSON.stringify(name)}.`,
    didYouMean(name, names) || 'List them with tool-hub list --hidden.',
  )
}

function factsOf(tool: AnyTool) {
  const {
    title,
    description,
    category,
    tags,
    version,
    capabilities,
    callers = ['direct', 'script'],
    timeoutMs,
    examples = [],
  } = tool
  const dialects = Object.entries(tool.dialects ?? {}).map(([kind, dialect]) => {
    return {
      kind,
      name: dialect.name,
      ...(dialect.input && { input: compileSchema(dialect.input, { side: 'input' }).jsonSchema() }),
    }
  })
  return {
    name: tool.name,
    wire: toWireName(tool.name),
    ...(title && { title }),
    description,
    group: tool.group ?? groupOf(tool.name),
    ...(category && { category }),
    ...(tags && { tags }),
    ...(version && { version }),
    capabilities,
    callers,
    ...(timeoutMs && { timeoutMs }),
    input: compileSchema(tool.input, { side: 'input' }).jsonSchema(),
    ...(tool.output && { output: compileSchema(tool.output, { side: 'output' }).jsonSchema() }),
    dialects,
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
    ...body.map(escapeText),
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
  return `tool-hub call ${name} '${JSON.stringify(input).replaceAll("'", "'\\''")}'`
}
