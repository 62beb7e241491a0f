import { basename, join, relative } from 'node:path'
import type { Command } from 'commander'
import { readEvents } from '../../record/read-events.ts'
import type { ToolResult } from '../../result.ts'
import { answerInDemo } from '../demo/answer.ts'
import { type DemoOutcome, runDemo } from '../demo/run-demo.ts'
import type { Step } from '../demo/scripted-agent.ts'
import { escapeLine } from '../escape-text.ts'
import { EXIT } from '../exit-code.ts'
import { print, printJson } from '../print.ts'
import { style } from '../terminal.ts'
import { Timeline } from '../timeline.ts'

const LONGEST = 96

const EXAMPLES = `
The question is yours to answer; after 20 seconds, or without a terminal, the demo says yes.

Examples:
  tool-hub demo
  tool-hub demo --json`

/** `demo`: the main job in a minute. */
export function describeDemo(command: Command): void {
  command
    .description(
      'Watch a scripted agent (no model) fetch a page, transform it and write a report, with one call asked and one denied; then see the audit.',
    )
    .addHelpText('after', EXAMPLES)
    .action(demo)
}

async function demo({ json }: { readonly json?: boolean }): Promise<void> {
  const calls: { readonly tool: string; readonly status: string; readonly rule?: string }[] = []
  if (!json) await print(`${style('bold', 'tool-hub')}  an agent makes a report; every call passes the hub`)
  const outcome = await runDemo({
    approve: json ? async () => ({ decision: 'allow', by: 'demo --json' }) : answerInDemo,
    onCall: async (step, result) => {
      calls.push({ tool: step.tool, status: result.status, ...(result.meta.rule && { rule: result.meta.rule }) })
      if (!json) await print(describeCall(calls.length, step, result))
    },
  })
  if (!outcome.verified.ok) process.exitCode = EXIT.failed
  await (json ? printJson({ ...outcome, calls }) : tellOutcome(outcome))
}

function describeCall(number: number, { thought, tool, input }: Step, result: ToolResult): string {
  const outcome = result.ok ? result.summary : `${result.error.code}: ${result.error.message}`
  const by = [
    result.meta.rule && `by ${result.meta.rule}`,
    result.meta.approvedBy && `approved by ${result.meta.approvedBy}`,
  ]
  const lines = [thought, short(JSON.stringify(input)), `→ ${short(outcome)}`, by.filter(Boolean).join(', ')].filter(
    Boolean,
  )
  return [
    `\n${style('bold', String(number).padStart(2))} ${mark(result)}  ${style('bold', tool)}`,
    ...lines.map(indent),
  ].join('\n')
}

function mark(result: ToolResult): string {
  if (!result.ok) return style('red', (result.status === 'denied' ? 'denied' : 'failed').padEnd(8))
  return style('green', (result.meta.approvedBy ? 'approved' : 'allowed').padEnd(8))
}

async function tellOutcome({ folder, runFolder, verified }: DemoOutcome): Promise<void> {
  await print(`\n${style('bold', 'The audit')}, as tool-hub runs show prints it`)
  const timeline = new Timeline()
  for await (const event of readEvents(runFolder)) await print(`  ${timeline.line(event)}`)
  const { ok, lines, problems } = verified
  const verdict = ok ? style('green', 'intact') : style('red', 'BROKEN')
  await print(
    `\n${style('bold', 'Verified')}: ${verdict}, ${lines} lines${problems.map(({ problem }) => `\n  ${problem}`).join('')}`,
  )
  const config = `--config ${join(folder, 'tool-hub.yaml')}`
  const self = howCalled()
  await print(`
${style('bold', 'Where')}   ${folder}
${style('bold', 'Next')}    ${self} runs show ${config}
        ${self} audit verify ${config}
        ${self} policy show ${config}
        Change a character in runs/*/events.jsonl there, and verify again.
${style('bold', 'Yours')}   ${self} init, then ${self} new tool notes.save`)
}

/** As the person would type it: the installed command, or the built file of a clone. */
function howCalled(): string {
  const file = process.argv[1] ?? ''
  return basename(file) === 'tool-hub' ? 'tool-hub' : `node ${relative(process.cwd(), file)}`
}

function indent(line: string): string {
  return `             ${escapeLine(line)}`
}

function short(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`
}
