import { resolve } from 'node:path'
import { findConfig } from '../../config/find-config.ts'
import { changeServer, type ServerChange } from './edit-servers.ts'
import { type FileEdit, planEdit } from './file-edit.ts'

/** The config that servers are added to: the one that is found or named, else a new tool-hub.yaml here. */
export async function ownConfigFile({ config }: { readonly config?: string }): Promise<string> {
  if (config !== undefined) return resolve(config)
  return (await findConfig(process.cwd())) ?? resolve('tool-hub.yaml')
}

/** What our own config would be with servers changed. */
export function planServers(file: string, changes: readonly Omit<ServerChange, 'key'>[]): FileEdit {
  return planEdit(file, (before) =>
    changes.reduce(
      (text, change) => changeServer(file, text, { ...change, key: 'mcpServers' }),
      before || 'version: 1\n',
    ),
  )
}
