import { existsSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { CONFIG_NAMES, configTemplate } from '../../config/index.ts'
import { UsageError } from '../exit.ts'
import { ownCommand } from '../invocation.ts'
import { print, printJson, say } from '../output/print.ts'

const FILE = 'tool-hub.yaml'

const EXAMPLES = `
Examples:
  tool-hub init
  tool-hub init --force     start over; the existing tool-hub.yaml is lost`

/** `init`: a config to start from. */
export function describeInit(command: Command): void {
  command
    .description('Write a commented tool-hub.yaml with safe settings into the current folder.')
    .option('--force', 'Overwrite an existing tool-hub.yaml')
    .addHelpText('after', EXAMPLES)
    .action(init)
}

async function init({ force = false, json }: { readonly force?: boolean; readonly json?: boolean }): Promise<void> {
  const present = CONFIG_NAMES.find((name) => existsSync(name))
  if (present !== undefined && !(force && present === FILE)) throw taken(present)
  writeFileSync(FILE, configTemplate(), { flag: force ? 'w' : 'wx' })
  if (json) return printJson({ file: FILE })
  await print(`Wrote ${FILE}.`)
  say(next(ownCommand()))
}

function next(self: string): string {
  return `
Next:
  ${self} list             the tools an agent sees now
  ${self} policy show      the rules that hold
  ${self} doctor           what is weak or missing here`
}

function taken(present: string): UsageError {
  const hint =
    present === FILE
      ? 'Use --force to overwrite it.'
      : `Remove ${present} first; two configs in one folder are refused.`
  return new UsageError(`${present} is there already.`, hint)
}
