import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CommandFlags } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { UntrustedFiles } from '@tool-hub/runtime/store'
import type { Command } from 'commander'
import { readCliConfig } from '../hub/config.ts'
import { addCommand } from '../input/options.ts'
import { print, say } from '../output/print.ts'

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
  addCommand(command, {
    name: 'list',
    summary: `List the labelled files, at most ${MAX_SHOWN}`,
    async run(flags: CommandFlags) {
      const { labels, hidden } = await openLabels(flags)
      const shown: string[] = []
      for (const path of labels.list(hidden)) {
        if (shown.length === MAX_SHOWN) return { labels: shown, hasMore: true }
        shown.push(path)
      }
      return { labels: shown, hasMore: false }
    },
    async show({ labels, hasMore }) {
      if (labels.length === 0) return say('No file is labelled.')
      await print(labels.map(escapeLine).join('\n'))
      if (hasMore) say(`There are more: only ${MAX_SHOWN} are shown.`)
    },
  })
  command.addHelpText('after', EXAMPLES)
  addCommand(command, {
    name: 'clear',
    summary: 'Trust what a file or a folder holds now',
    description: 'Trust what a file or a folder holds now; what is written there later may be labelled again.',
    words: { '<path>': 'The file or folder' },
    async run(flags: CommandFlags, path: string) {
      const { labels } = await openLabels(flags)
      const real = existsSync(path) ? realpathSync(path) : resolve(path)
      labels.clear(real)
      await labels.synced()
      return { cleared: real }
    },
    show: ({ cleared }) => `Cleared ${escapeLine(cleared)}.`,
  })
}

async function openLabels(flags: CommandFlags): Promise<{ labels: UntrustedFiles; hidden: string[] }> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const data = resolve(options.data ?? '.tool-hub')
  const folders = [data, ...(typeof options.runs === 'string' ? [resolve(options.runs)] : [])]
  return {
    labels: new UntrustedFiles(join(data, 'untrusted-files.jsonl')),
    hidden: folders.filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder)),
  }
}
