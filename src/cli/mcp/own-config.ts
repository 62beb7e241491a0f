import { dirname, resolve } from 'node:path'
import { findConfig } from '../../config/index.ts'
import { changeServer, type ServerChange } from './edit-servers.ts'
import { type FileEdit, planEdit } from './file-edit.ts'

/** The config that servers are added to. */
export interface OwnConfig {
  readonly file: string
  /** The person named it, so it may be a link to anywhere. */
  readonly isNamed: boolean
}

/** The one that is found or named, else a new tool-hub.yaml here. */
export async function ownConfigFile({ config }: { readonly config?: string }): Promise<OwnConfig> {
  if (config !== undefined) return { file: resolve(config), isNamed: true }
  return { file: (await findConfig(process.cwd())) ?? resolve('tool-hub.yaml'), isNamed: false }
}

/** What our own config would be with servers changed. */
export function planServers({ file, isNamed }: OwnConfig, changes: readonly Omit<ServerChange, 'key'>[]): FileEdit {
  const change = (before: string) =>
    changes.reduce(
      (text, change) => changeServer(file, text, { ...change, key: 'mcpServers' }),
      before || (/\.ya?ml$/.test(file) ? 'version: 1\n' : ''),
    )
  return planEdit(file, change, { keepsOne: true, ...(!isNamed && { within: dirname(file) }) })
}
