import type { Command } from 'commander'
import { escapeLine, escapeText } from '../../lib/index.ts'
import type { ReportedTool, ServerReport } from '../../sources/mcp/index.ts'
import { EXIT } from '../exit-code.ts'
import { addConfigOption } from '../input/add-options.ts'
import { serverNamed, withSourceHost } from '../mcp/with-source-host.ts'
import { fitLine, lineWidth, wrapText } from '../output/fit-line.ts'
import { hintOf } from '../output/hint-of.ts'
import { print, printJson, say } from '../output/print.ts'
import { style } from '../output/terminal.ts'
import { ownCommand } from '../own-command.ts'

/** In a pipe, where a line is as long as it is. */
const MAX_LINE_LENGTH = 160

interface TestFlags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
Exit code: 1 when a server does not answer, or a definition is not what it was; else 0.

Examples:
  tool-hub mcp test
  tool-hub mcp test github --json`

/** `mcp test`: connects to servers and says what they have. */
export function describeMcpTest(command: Command): void {
  addConfigOption(command)
    .summary('Connect to the MCP servers and say what they have')
    .description('Connect to MCP servers, list their tools, and say what changed since they were first seen.')
    .argument('[names...]', 'Which. Default: all that are not disabled')
    .addHelpText('after', EXAMPLES)
    .action(test)
}

async function test(names: string[], flags: TestFlags): Promise<void> {
  const { testServer } = await import('../../sources/mcp/index.ts')
  const reports = await withSourceHost(flags, (host, servers) => {
    const asked = names.length > 0 ? names : Object.keys(servers).filter((name) => !servers[name]!.disabled)
    const wanted = asked.map((name) => [name, serverNamed(servers, name)] as const)
    return Promise.all(wanted.map(async ([name, server]) => ({ name, report: await testServer(name, server, host) })))
  })
  if (reports.some(({ report }) => !report.ok || report.tools.some(({ drift }) => drift !== undefined)))
    process.exitCode = EXIT.failed
  if (flags.json) return printJson(reports.map(({ name, report }) => ({ name, ...asJson(report) })))
  if (reports.length === 0) return say('There is no MCP server to test. Add one: tool-hub mcp add NAME -- COMMAND.')
  for (const { name, report } of reports) await print(describeReport(name, report))
}

function asJson(report: ServerReport): object {
  if (report.ok) return report
  const { code, message, fix } = report.problem
  return { ...report, problem: { code, message, fix } }
}

function describeReport(name: string, report: ServerReport): string {
  if (!report.ok) {
    const { code, message } = report.problem
    const line = `${style('red', 'broken')}  ${name}  ${escapeText(`${code}: ${message}`)}`
    return wrapText(`${line}\n        fix: ${escapeText(hintOf(report.problem))}`, 8)
  }
  const { era, info, tools, leftOut, connectMs, listMs } = report
  const who = info ? `${info.name} ${info.version}` : 'it does not say what it is'
  const times = `connected in ${Math.round(connectMs)} ms, listed in ${Math.round(listMs)} ms`
  return [
    fitLine(`${style('green', 'good')}    ${name}  ${escapeLine(who)}, ${era} era, ${times}`),
    ...tools.map(describeTool),
    ...leftOut.map(({ tool, why }) => wrapText(`        left out: ${escapeLine(`${tool}: ${why}`)}`, 10)),
    ...(tools.some(({ drift }) => drift) ? [`        accept what changed: ${ownCommand()} mcp pin ${name}`] : []),
  ].join('\n')
}

function describeTool({ name, description, doubt, isNew }: ReportedTool): string {
  const [line = ''] = description.split('\n', 1)
  const told = fitLine(`        ${escapeLine(`${name}  ${line}`)}`, Math.min(lineWidth(), MAX_LINE_LENGTH))
  if (doubt === undefined) return told
  const what = isNew ? 'hidden from models:' : 'asks:'
  const why = `          ${style('yellow', what)} ${escapeText(doubt).replaceAll('\n', '\n          ')}`
  return `${told}\n${wrapText(why, 10)}`
}
