import { sep } from 'node:path'
import type { AgentProgram } from './agent-programs.ts'

/** What the entry should make tool-hub do. */
interface OwnEntryOptions {
  /** The folder that tools may use; that of the project unless said. */
  readonly root?: string
  readonly config?: string
  /** The file of this program. */
  readonly main: string
}

/** The lines that put tool-hub into another program: the installed package by name, a clone by its file. */
export function ownEntry({ workspace, isTyped }: AgentProgram, { root = workspace, config, main }: OwnEntryOptions) {
  const words = ['mcp', '--root', root, ...(config === undefined ? [] : ['--config', config])]
  const isInstalled = main.includes(`${sep}node_modules${sep}`)
  return {
    ...(isTyped && { type: 'stdio' }),
    ...(isInstalled
      ? { command: 'npx', args: ['-y', 'tool-hub', ...words] }
      : { command: 'node', args: [main, ...words] }),
  }
}
