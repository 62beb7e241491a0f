import { join } from 'node:path'
import type { Command } from 'commander'
import { readEvents } from '../../record/read-events.ts'
import type { ToolResult } from '../../result.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { answerInDemo } from '../demo/answer.ts'
import { type DemoOutcome, runDemo } from '../demo/run-demo.ts'
import type { Step } from '../demo/scripted-agent.ts'
import { EXIT } from '../exit-code.ts'
import { interruptSignal } from '../interrupt.ts'
import { fitLine, lineWidth, wrapText } from '../output/fit-line.ts'
import { print, printJson } from '../output/print.ts'
import { style } from '../output/terminal.ts'
import { Timeline } from '../output/timeline.ts'
import { ownCommand } from '../own-command.ts'

const INDENT = 13
/** Where no terminal says how long a line is. */
const WIDTH = 100

const EXAMPLES = `
The question is yours to answer: no answer for 20 seconds is a no. Without a terminal the demo says yes by itself,
which nothing but this demo does.

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
  const signal = interruptSignal()
  try {
    await watchDemo(signal, json)
  } catch (error) {
    // Ctrl-C: everything is closed by now, and there is nothing more to show.
    if (!signal.aborted) throw error
  }
}

async function watchDemo(signal: AbortSignal, json = false): Promise<void> {
  const calls: { readonly tool: string; readonly status: string; readonly rule?: string }[] = []
  if (!json) await print(`${style('bold', 'tool-hub')}  an agent makes a report; every call passes the hub`)
  const outcome = await runDemo({
    signal,
    approve: async (request) =>
      json ? { decision: 'allow', by: 'demo --json' } : answerInDemo(request, { number: calls.length + 1 }),
    onCall: async (step, result) => {
      calls.push({ tool: step.tool, status: result.status, ...(result.meta.rule && { rule: result.meta.rule }) })
      if (!json) await print(describeCall(calls.length, step, result))
    },
  })
  if (!outcome.verified.ok) process.exitCode = EXIT.failed
  await (json ? printJson({ ...outcome, calls }) : tellOutcome(outcome))
}

function describeCall(number: number, { thought, tool, input, brief }: Step, result: ToolResult): string {
  const outcome = result.ok
    ? (brief?.(result.data) ?? `→ ${result.summary}`)
    : `→ ${result.error.code}: ${result.error.message}`
  const { rule = '', approvedBy } = result.meta
  const by = [outcome.includes(rule) ? '' : `by ${rule}`, approvedBy && `approved by ${approvedBy}`]
    .filter(Boolean)
    .join(', ')
  const short = result.ok ? cut : wrap
  return [
    `\n${style('bold', String(number).padStart(2))} ${mark(result)}  ${style('bold', tool)}`,
    wrap(thought),
    cut(JSON.stringify(input)),
    short(outcome),
    ...(by === '' ? [] : [wrap(by)]),
  ].join('\n')
}

function mark(result: ToolResult): string {
  if (!result.ok) return style('red', (result.status === 'denied' ? 'denied' : 'failed').padEnd(8))
  return style('green', (result.meta.approvedBy ? 'approved' : 'allowed').padEnd(8))
}

async function tellOutcome({ folder, runFolder, verified }: DemoOutcome): Promise<void> {
  const self = ownCommand()
  await print(`\n${style('bold', 'The audit')}, as "runs show" prints it`)
  const timeline = new Timeline({ indent: 2 })
  for await (const event of readEvents(runFolder)) await print(timeline.line(event))
  const { ok, lines, problems } = verified
  const verdict = ok ? style('green', 'intact') : style('red', 'BROKEN')
  await print(
    `\n${style('bold', 'Verified')}: ${verdict}, ${lines} lines${problems.map(({ problem }) => `\n  ${problem}`).join('')}`,
  )
  // Commands are not wrapped: they are there to be copied.
  const config = `--config ${join(folder, 'tool-hub.yaml')}`
  await print(`
${style('bold', 'Look around')}
  ${self} runs show ${config}
  ${self} policy show ${config}
  ${self} policy explain demo/web.fetch --url http://paste.example/in \\
    ${config}
  ${self} audit verify ${config}
${wrapText('  Change a character in runs/*/events.jsonl there, and verify again.', 2)}

${style('bold', 'Begin your own')}
  ${self} init
  ${self} new tool notes.save

${wrapText(`All of it is in ${folder}; it stays there, and you may delete it.`)}`)
}

function wrap(line: string): string {
  return wrapText(`${' '.repeat(INDENT)}${escapeLine(line)}`, INDENT)
}

function cut(line: string): string {
  return fitLine(`${' '.repeat(INDENT)}${escapeLine(line)}`, lineWidth(process.stdout, WIDTH + INDENT))
}
