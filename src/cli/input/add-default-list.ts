import type { Command } from 'commander'
import { didYouMean } from '../../names.ts'
import { UsageError } from '../usage-error.ts'

/** Makes `list` what a group does when it is called alone; any other word is a mistyped command. */
export function addDefaultList(group: Command, summary: string): Command {
  return group
    .command('list', { isDefault: true })
    .summary(summary)
    .description(`${summary}.`)
    .allowExcessArguments()
    .hook('preAction', (_, list) => {
      const [word] = list.args
      if (word === undefined) return
      const known = group.commands.map((command) => command.name())
      throw new UsageError(
        `tool-hub ${group.name()} has no command ${JSON.stringify(word)}.`,
        didYouMean(word, known) || `It has: ${known.join(', ')}.`,
      )
    })
}
