import type { Command } from 'commander'
import { escapeText } from '../../lib/index.ts'
import { EXIT } from '../exit-code.ts'
import { addConfigOption } from '../input/add-options.ts'
import { wrapText } from '../output/fit-line.ts'
import { print, printJson } from '../output/print.ts'
import { style } from '../output/terminal.ts'
import { type DoctorFinding, examine } from './doctor-examine.ts'

const EXAMPLES = `
Exit code: 1 when something is broken, else 0; what is weak is reported and passes.

Examples:
  tool-hub doctor
  tool-hub doctor --json`

const COLOURS = { good: 'green', weak: 'yellow', broken: 'red' } as const

/** `doctor`: what is missing or weak here. */
export function describeDoctor(command: Command): void {
  addConfigOption(command)
    .description('Say what is missing or weak on this machine and in this config, and how to mend it.')
    .addHelpText('after', EXAMPLES)
    .action(doctor)
}

async function doctor(flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const findings = await examine(flags)
  if (findings.some(({ state }) => state === 'broken')) process.exitCode = EXIT.failed
  await (flags.json ? printJson(findings) : print(findings.map(describe).join('\n')))
}

function describe({ state, what, detail, fix }: DoctorFinding): string {
  const line = `${style(COLOURS[state], state.padEnd(6))}  ${what.padEnd(10)}  ${escapeText(detail)}`
  return wrapText(fix ? `${line}\n${' '.repeat(20)}fix: ${escapeText(fix)}` : line, 20)
}
