import type { Command } from 'commander'

/** `--config`, for every command that reads the config. */
export function addConfigOption(command: Command): Command {
  return command.option('--config <file>', 'Config file, instead of searching tool-hub.yaml upwards')
}

/** What commands that call tools have in common. */
export function addCallOptions(command: Command): Command {
  return addConfigOption(command)
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--run <id>', 'Run to record into. Default: a new one')
    .option('--yes', 'Approve whatever policy asks; recorded as "cli --yes"')
    .option('--wait <duration>', 'Let asks wait that long for tool-hub approvals, e.g. 5m')
}
