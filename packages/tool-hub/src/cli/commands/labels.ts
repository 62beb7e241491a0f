import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { escapeLine } from '@tool-hub/core/lib'
import { UntrustedFiles } from '@tool-hub/runtime/store'
import type { Command } from 'commander'
import { readCliConfig } from '../hub/config.ts'
import { addConfigOption, addDefaultList } from '../input/options.ts'
import { print, printJson, say } from '../output/print.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const MAX_SHOWN = 1_000

const EXAMPLES = `
A labelled file holds content from outside: after a run has read it, or run a command that could read it, sending data needs
approval. The label of a folder applies to everything in it.

Examples:
  tool-hub labels
  tool-hub labels clear node_modules          you have looked at it, and trust what is in it now`

/** `labels`: files that count as content from outside. */
export function describeLabels(command: Command): void {
  command.description(
    'List the files that hold untrusted content from outside, and clear the labels of those that you trust.',
  )
  addConfigOption(addDefaultList(command, `List the labelled files, at most ${MAX_SHOWN}`)).action(list)
  command.addHelpText('after', EXAMPLES)
  addConfigOption(command.command('clear'))
    .summary('Trust what a file or a folder holds now')
    .description('Trust what a file or a folder holds now; what is written there later may be labelled again.')
    .argument('<path>', 'The file or folder')
    .action(clear)
}

async function list(flags: Flags): Promise<void> {
  const { labels, hidden } = await openLabels(flags)
  const shown: string[] = []
  let hasMore = false
  for (const path of labels.list(hidden)) {
    hasMore = shown.length === MAX_SHOWN
    if (hasMore) break
    shown.push(path)
  }
  if (flags.json) return printJson({ labels: shown, hasMore })
  if (shown.length === 0) return say('No file is labelled.')
  await print(shown.map(escapeLine).join('\n'))
  if (hasMore) say(`There are more: only ${MAX_SHOWN} are shown.`)
}

async function clear(path: string, flags: Flags): Promise<void> {
  const { labels } = await openLabels(flags)
  const real = existsSync(path) ? realpathSync(path) : resolve(path)
  labels.clear(real)
  await labels.synced()
  await (flags.json ? printJson({ cleared: real }) : print(`Cleared ${escapeLine(real)}.`))
}

async function openLabels(flags: Flags): Promise<{ labels: UntrustedFiles; hidden: string[] }> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const data = resolve(options.data ?? '.tool-hub')
  const folders = [data, ...(typeof options.runs === 'string' ? [resolve(options.runs)] : [])]
  return {
    labels: new UntrustedFiles(join(data, 'untrusted-files.jsonl')),
    hidden: folders.filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder)),
  }
}
