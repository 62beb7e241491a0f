import type { Command } from 'commander'
import { didYouMean } from '../../core/index.ts'
import { UsageError } from '../usage-error.ts'

/** Makes `list` what a group does when it is called alone; any other word is a mistyped command. */
export function addDefaultList(group: Command, summary: string): Command {
  const list = group
    .command('list', { isDefault: true })
    .summary(summary)
    .description(`${summary}.`)
    .allowExcessArguments()
    .hook('preAction', (_, { args: [word] }) => {
      if (word === undefined) return
      const known = group.commands.map((command) => command.name())
      throw new UsageError(
        `tool-hub ${group.name()} has no command ${JSON.stringify(word)}.`,
        didYouMean(word, known) || `It has: ${known.join(', ')}.`,
      )
    })
  // Its options are known when help is asked for, not yet now.
  const options = () => list.options.map(({ long }) => long).join(', ')
  group.addHelpText('after', () => `\nWithout a command it is list, which takes ${options()}.`)
  return list
}
