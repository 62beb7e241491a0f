import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ToolError } from '../../core/index.ts'
import { isStoreLost, storeIsLost } from '../../hub/index.ts'
import { acceptStore, openStore } from '../../store/index.ts'
import { adoptDataFolder } from '../../system/index.ts'
import { readCliConfig } from '../hub/config.ts'
import { addConfigOption } from '../input/options.ts'
import { print, printJson } from '../output/print.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
The store holds the state that outlives a process: grants, pending approvals, idempotency keys, budgets, tokens, the index of
the runs. It is one file, store.db in the data folder. The records of the runs are separate files: back them up too.

Examples:
  tool-hub store backup /backups/store-2026-11-15.db
  tool-hub store check
  tool-hub store adopt     # after the data folder was copied or restored from a backup`

/** `store`: the file of what outlives a process. */
export function describeStore(command: Command): void {
  command.description('Check and back up the store.').addHelpText('after', EXAMPLES)
  addConfigOption(command.command('backup'))
    .summary('Copy the store to a new file')
    .description('Copy the whole store to a new file, while other processes keep using it.')
    .argument('<file>', 'Path of the copy')
    .action(backup)
  addConfigOption(command.command('check'))
    .summary('Check that the store is intact, readable and writable')
    .description(
      'Check the integrity of the whole store, that it is not an older copy, and that it can be written. Exits 1 with the problem and its fix.',
    )
    .action(check)
  addConfigOption(command.command('adopt'))
    .summary('Trust a data folder or a store that was copied or restored')
    .description(
      'Trust the data folder, with the tokens, grants and sign-ins in it. Until then, a folder that tool-hub did not create on this machine is refused, and a store that is older than expected is reported.',
    )
    .action(adopt)
}

async function adopt(flags: Flags): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const folder = resolve(options.data ?? '.tool-hub')
  adoptDataFolder(folder)
  await acceptStore(folder)
  await (flags.json ? printJson({ data: folder }) : print(`${folder} is trusted from now on, with the store as it is.`))
}

async function backup(file: string, flags: Flags): Promise<void> {
  const path = resolve(file)
  await withStore(flags, (store) => store.backup(path))
  await (flags.json ? printJson({ backup: path }) : print(`The store was copied to ${path}.`))
}

async function check(flags: Flags): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const data = resolve(options.data ?? '.tool-hub')
  const runs = options.runs === false ? undefined : resolve(options.runs ?? 'runs')
  if (runs !== undefined && (await isStoreLost(data, runs)))
    throw new ToolError('CONFLICT', storeIsLost(data, runs), {
      hint: 'Restore a backup, or continue: the next start creates a new store, which tool-hub store adopt accepts.',
    })
  await withStore(flags, (store) => store.check().catch(rethrowAsFailure))
  await (flags.json ? printJson({ ok: true }) : print('The store can be read and written.'))
}

/** A store that fails its check is no wrong config: the command exits 1. */
function rethrowAsFailure(error: unknown): never {
  if (!ToolError.is(error) || error.code !== 'CONFIG_INVALID') throw error
  throw new ToolError('CONFLICT', error.message, { hint: error.fix.hint, cause: error })
}

async function withStore(flags: Flags, use: (store: ReturnType<typeof openStore>) => Promise<void>): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const store = openStore(resolve(options.data ?? '.tool-hub'))
  try {
    await use(store)
  } finally {
    await store.close()
  }
}
