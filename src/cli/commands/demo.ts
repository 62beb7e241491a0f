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

/** `demo`: the main job in a minute. */
export function describeDemo(command: Command): void {
  command
    .description(
      'Watch a scripted agent (no model) fetch a page, transform it and write a report, with one call asked and one denied; then see the audit.',
    )
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
  await print(`
${style('bold', 'Where')}  ${folder}
${style('bold', 'Next')}   cd ${folder}, then
         tool-hub runs show        the timeline again
         tool-hub audit verify     change a character in runs/*/events.jsonl first
         tool-hub policy show      the rules that decided
       or write your own: tool-hub init, tool-hub new tool notes.save`)
}

function indent(line: string): string {
  return `             ${escapeLine(line)}`
}

function short(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`
}
