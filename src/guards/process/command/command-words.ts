import type { CommandLine } from '../../../contracts/commands.ts'

/**
 * The words to start. A line is read by bash and by nothing before it. Its path is fixed, as PATH is none of the
 * model's; `--norc` because bash reads ~/.bashrc when its input is a socket, as ours is, and takes itself for a remote
 * shell's; `--` because a line may begin with a dash.
 */
export function commandWords(line: CommandLine): readonly string[] {
  return line.argv ?? ['/bin/bash', '--noprofile', '--norc', '-c', '--', line.command]
}
