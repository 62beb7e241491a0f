import type { AgentProgram } from './agent-programs.ts'

/** What the entry should make tool-hub do. */
interface OwnEntryOptions {
  /** The folder that tools may use; that of the project unless said. */
  readonly root?: string
  readonly config?: string
  /** Names and arguments of tools as coding agents know them. */
  readonly dialect?: string
  /** It is started in any folder, whoever made that: nothing may come from there. */
  readonly isForAll: boolean
  /** What starts this installation. */
  readonly launcher: readonly [command: string, ...words: string[]]
}

/** The lines that put tool-hub into another program; for all projects with a config that is spelt out, or none. */
export function ownEntry(
  { workspace, isTyped }: AgentProgram,
  { root = workspace, config, dialect, isForAll, launcher: [command, ...words] }: OwnEntryOptions,
) {
  return {
    ...(isTyped && { type: 'stdio' }),
    command,
    args: [
      ...words,
      'mcp',
      '--root',
      root,
      ...(dialect === undefined ? [] : ['--dialect', dialect]),
      ...configWords(config, isForAll),
    ],
  }
}

function configWords(config: string | undefined, isForAll: boolean): string[] {
  if (config !== undefined) return ['--config', config]
  return isForAll ? ['--no-config'] : []
}
