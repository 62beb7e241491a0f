import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseDuration } from '@tool-hub/config'
import { type CommandDescription, type CommandFlags, didYouMean } from '@tool-hub/core'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { print, printJson } from '../output/print.ts'

/** `--config`, for every command that reads the config. */
export function addConfigOption(command: Command): Command {
  return command.option('--config <file>', 'Config file. Default: the nearest tool-hub.yaml, here or above')
}

/** The options that all commands that call tools have. */
export function addCallOptions(command: Command): Command {
  return addConfigOption(command)
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--run <id>', 'Run to record into. Default: a new run')
    .option('--yes', 'Approve every call that needs approval; recorded as "cli --yes"')
    .option('--wait <duration>', 'Let calls that need approval wait for tool-hub approvals this long, e.g. 5m')
}

/** Makes `list` the default command of a group; any other word is reported as a mistyped command. */
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
  // Its options are added later, but before help is printed.
  const options = () => list.options.map(({ long }) => long).join(', ')
  group.addHelpText('after', () => `\nThe default command is list, which takes ${options()}.`)
  return list
}

/** Throws a `UsageError` if the path of an option is not a folder. */
export function assertFolder(option: string, path: string): void {
  const stats = statSync(resolve(path), { throwIfNoEntry: false })
  if (stats?.isDirectory()) return
  throw new UsageError(
    `${option} ${JSON.stringify(path)} ${stats ? 'is not a folder' : 'does not exist'}.`,
    stats ? 'Give a folder.' : 'Make the folder first, or give another.',
  )
}

/** Throws a `UsageError` if the path of an option is not a file. */
export function assertFile(option: string, path: string): void {
  const stats = statSync(resolve(path), { throwIfNoEntry: false })
  if (stats?.isFile()) return
  throw new UsageError(
    `${option} ${JSON.stringify(path)} ${stats ? 'is not a file' : 'does not exist'}.`,
    'Give the path of a config; tool-hub init writes one.',
  )
}

/** The value of an option as a whole number above 0. */
export function parseCount(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${option} ${JSON.stringify(text)} is not a number.`, 'Use a whole number above 0.')
}

/** The value of an option such as `10s`, in milliseconds. */
export function parseTime(option: string, text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new UsageError(`${option} ${JSON.stringify(text)} is not a time.`, 'Use 250ms, 60s, 5m, 1h or 1d.')
  }
}

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
