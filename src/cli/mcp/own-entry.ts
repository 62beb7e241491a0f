import { sep } from 'node:path'
import type { OwnModule } from '../../own-file.ts'
import { VERSION } from '../../version.ts'
import type { AgentProgram } from './agent-programs.ts'

/** What the entry should make tool-hub do. */
interface OwnEntryOptions {
  /** The folder that tools may use; that of the project unless said. */
  readonly root?: string
  readonly config?: string
  /** It is started in any folder, whoever made that: nothing may come from there. */
  readonly isForAll: boolean
  /** The file of this program, and the flags that Node needs for it. */
  readonly main: { readonly file: string; readonly flags: OwnModule['flags'] }
}

/**
 * The lines that put tool-hub into another program. In a project that others share: the package by name and version, a
 * clone by its file. For all projects: this very installation, with a config that is spelt out, or none.
 */
export function ownEntry(
  { workspace, isTyped }: AgentProgram,
  { root = workspace, config, isForAll, main: { file, flags } }: OwnEntryOptions,
) {
  const words = ['mcp', '--root', root, ...configWords(config, isForAll)]
  const isInstalled = file.includes(`${sep}node_modules${sep}`)
  return {
    ...(isTyped && { type: 'stdio' }),
    ...(isInstalled && !isForAll
      ? { command: 'npx', args: ['-y', `tool-hub@${VERSION}`, ...words] }
      : { command: isForAll ? process.execPath : 'node', args: [...flags, file, ...words] }),
  }
}

function configWords(config: string | undefined, isForAll: boolean): string[] {
  if (config !== undefined) return ['--config', config]
  return isForAll ? ['--no-config'] : []
}
