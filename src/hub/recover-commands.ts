import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lazyModule } from '../core/index.ts'
import { prepareDataFolder } from '../system/index.ts'

const loadPlaceKeeper = lazyModule(() => import('../sandbox/protected/index.ts'))

/** Where is noted, while commands run, what was at protected places before. */
export function ledgerFolderOf(data: string): string {
  return join(data, 'commands')
}

/**
 * Takes away what commands have made at protected places whose hub was killed before it could. To be done before anything
 * that lies in a folder of tools is believed: a config, a plugin, a hook.
 */
export async function recoverCommands(data: string): Promise<void> {
  const folder = ledgerFolderOf(data)
  if (!existsSync(folder)) return
  prepareDataFolder(data)
  const { recoverPlaces } = await loadPlaceKeeper()
  await recoverPlaces(folder, ({ path, movedTo, problem }) => {
    const outcome = problem === undefined ? `It is ${movedTo} now` : `It could not be renamed (${problem}): look at it`
    process.emitWarning(
      `A command whose hub was killed made ${path}, which is protected. ${outcome}.`,
      'ToolHubWarning',
    )
  })
}
