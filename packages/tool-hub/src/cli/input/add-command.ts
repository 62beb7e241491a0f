import type { CommandDescription, CommandFlags } from '@tool-hub/core'
import type { Command } from 'commander'
import { print, printJson } from '../output/print.ts'
import { addCallOptions, addConfigOption, addDefaultList } from './options.ts'

/** Adds a command to a group. */
export function addCommand<Flags extends CommandFlags, Words extends readonly unknown[], Outcome>(
  group: Command,
  command: CommandDescription<Flags, Words, Outcome>,
): void {
  const { name, summary, description = `${summary}.`, words = {}, help } = command
  const added = name === 'list' ? addDefaultList(group, summary) : group.command(name).summary(summary)
  added.description(description)
  if (command.makesCalls) addCallOptions(added)
  else addConfigOption(added)
  for (const [word, meaning] of Object.entries(words)) added.argument(word, meaning)
  command.options?.(added)
  if (help !== undefined) added.addHelpText('after', help)
  added.action(async (...values) => {
    // The arguments come first, then the options and commander's own object.
    const given = values.slice(0, -2) as readonly unknown[] as Words
    const flags: Flags = values.at(-2)
    const outcome = await command.run(flags, ...given)
    if (flags.json) return printJson(command.toJson ? command.toJson(outcome) : outcome)
    const text = await command.show(outcome, flags, ...given)
    if (typeof text === 'string') await print(text)
  })
}
