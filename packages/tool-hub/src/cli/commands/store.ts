import { resolve } from 'node:path'
import { resolveDatabase } from '@tool-hub/config'
import { type DatabaseOptions, type HubOptions, type Store, ToolError } from '@tool-hub/core'
import {
  copyTables,
  migrateStore,
  noteFirstCopy,
  openNewFile,
  openSource,
  openStoreOf,
  openTarget,
  storeVersion,
} from '@tool-hub/library/stores'
import { isStoreLost, storeIsLost } from '@tool-hub/runtime/hub'
import { acceptStore, type CopyPlace, type CopyReport, storePlace } from '@tool-hub/runtime/store'
import { adoptDataFolder, prepareMissingDataFolder } from '@tool-hub/sandbox/system'
import type { Command } from 'commander'
import { interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { addConfigOption } from '../input/options.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

type StoreOptions = Pick<HubOptions, 'data' | 'database' | 'runs'>

const EXAMPLES = `
The store holds the state that outlives a process: grants, pending approvals, idempotency keys, budgets, tokens, the index of
the runs. It is one file, store.db in the data folder, or the PostgreSQL database that store: in the config names. The records
of the runs are separate files, so back them up, too; a PostgreSQL database has a copy of them.

Examples:
  tool-hub store backup /backups/store-2026-11-15.db
  tool-hub store check
  tool-hub store migrate --dry-run
  tool-hub store copy --from ./.tool-hub    # to the database that the config names
  tool-hub store adopt     # after the data folder was copied or restored from a backup`

/** `store`: the state that outlives a process. */
export function describeStore(command: Command): void {
  command.description('Check, back up, migrate and copy the store.').addHelpText('after', EXAMPLES)
  addConfigOption(command.command('backup'))
    .summary('Copy the store to a new file')
    .description(
      'Copy the whole store to a new file, while other processes keep using it. The copy of a PostgreSQL database is an SQLite file, too; tool-hub store copy --from FILE restores it.',
    )
    .argument('<file>', 'Path of the copy')
    .action(backup)
  addConfigOption(command.command('check'))
    .summary('Check that the store is intact, readable and writable')
    .description(
      'Check that the whole store is intact, that it is not an older copy, and that it can be written. For PostgreSQL, check that the server can be reached, its version and clock, the version of the tables, and the rights of the user. Exits with 1 and names the problem and its fix.',
    )
    .action(check)
  addConfigOption(command.command('migrate'))
    .summary('Change the tables of the store to the version of this tool-hub')
    .description(
      'Change the tables of the store to the version that this tool-hub needs. A file is migrated by the next command or service that opens it; a PostgreSQL database only by this command. Stop all processes of the earlier version first: the command is refused while some of them use a database.',
    )
    .option('--dry-run', 'Show the versions, and change nothing')
    .option('--force', 'Change the tables although processes use them; they stop using the store')
    .action(migrate)
  addConfigOption(command.command('copy'))
    .summary('Copy all rows to an empty store, also from SQLite to PostgreSQL and back')
    .description(
      'Copy all rows of a store to an empty one, from SQLite to PostgreSQL or back. The copy is the store at one moment, and both are compared at the end. Stop the services first: the copy does not contain what they write later.',
    )
    .option('--from <place>', 'Data folder, file of a backup, or postgres:// URL. Default: the store of the config')
    .option('--to <place>', 'Data folder or postgres:// URL. Default: the store of the config')
    .addHelpText('after', COPY_EXAMPLES)
    .action(copy)
  addConfigOption(command.command('adopt'))
    .summary('Trust a data folder or a store that was copied or restored')
    .description(
      'Trust the data folder, with the tokens, grants and sign-ins in it. Until then, a folder that tool-hub did not create on this machine is refused, and a store that is older than expected is reported.',
    )
    .action(adopt)
}

const COPY_EXAMPLES = `
A URL may contain \${env:NAME}, so that the password is not on the command line, and ?schema=NAME. Default: tool_hub.

Examples:
  tool-hub store copy --from ./.tool-hub                                    to the database of the config
  tool-hub store copy --to 'postgres://hub:\${env:DB_PASSWORD}@db.example.org/hub'
  tool-hub store copy --to ./restored                                       from the database of the config to a folder`

async function adopt(flags: Flags): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const folder = resolve(options.data ?? '.tool-hub')
  const isLost = (await lostStoreOf(options)) !== undefined
  if (isLost) prepareMissingDataFolder(folder)
  adoptDataFolder(folder)
  await acceptStore(folder)
  // The new store is created, because the next start would report a missing one again.
  if (isLost) await withStore({ data: folder }, (store) => store.check())
  await (flags.json ? printJson({ data: folder }) : print(`${folder} is trusted from now on, with the store as it is.`))
}

async function backup(file: string, flags: Flags): Promise<void> {
  const path = resolve(file)
  const options = await readStoreOptions(flags)
  if (options.database) await copyPlaces(await openSource(options.database), () => openNewFile(path))
  else await withStore(options, (store) => store.backup(path))
  await (flags.json ? printJson({ backup: path }) : print(`The store was copied to ${path}.`))
}

async function check(flags: Flags): Promise<void> {
  const options = await readStoreOptions(flags)
  const lost = await lostStoreOf(options)
  if (lost !== undefined)
    throw new ToolError('CONFLICT', lost, {
      hint: 'Restore a backup, or accept a new store with tool-hub store adopt.',
    })
  await withStore(options, (store) => store.check()).catch(rethrowAsFailure)
  const { from: version } = await storeVersion(options)
  const place = storePlace(options)
  await (flags.json
    ? printJson({ ok: true, store: place, version })
    : print(`The store ${place} (version ${version}) can be read and written.`))
}

/** Says that the store of the data folder is missing or empty although there are runs; `undefined` if it is not. */
async function lostStoreOf({ database, data = '.tool-hub', runs = 'runs' }: StoreOptions): Promise<string | undefined> {
  if (database || runs === false) return undefined
  const [dataFolder, runsFolder] = [resolve(data), resolve(runs)]
  return (await isStoreLost(dataFolder, runsFolder)) ? storeIsLost(dataFolder, runsFolder) : undefined
}

/** A store that fails its check is not a wrong config: the command exits with 1. */
function rethrowAsFailure(error: unknown): never {
  if (!ToolError.is(error) || error.code !== 'CONFIG_INVALID') throw error
  throw new ToolError('CONFLICT', error.message, { hint: error.fix.hint, cause: error })
}

async function migrate(flags: Flags & { readonly dryRun?: boolean; readonly force?: boolean }): Promise<void> {
  const options = await readStoreOptions(flags)
  const { from, to } = await (flags.dryRun ? storeVersion(options) : migrateStore(options, flags)).catch(
    rethrowAsFailure,
  )
  const place = storePlace(options)
  if (flags.json) return printJson({ store: place, from, to, dryRun: flags.dryRun ?? false })
  if (from === to) return print(`The store ${place} has version ${to} already.`)
  if (from === 0)
    return print(
      flags.dryRun
        ? `The store ${place} has no tables; tool-hub store migrate would create those of version ${to}.`
        : `The tables of the store ${place} were created in version ${to}.`,
    )
  await print(
    flags.dryRun
      ? `The store ${place} has version ${from}; tool-hub store migrate would change it to version ${to}.`
      : `The store ${place} was changed from version ${from} to version ${to}.`,
  )
}

interface CopyFlags extends Flags {
  readonly from?: string
  readonly to?: string
}

async function copy(flags: CopyFlags): Promise<void> {
  if (flags.from === undefined && flags.to === undefined)
    throw new UsageError('store copy needs --from or --to.', 'Give one of them; the other is the store of the config.')
  const options = await readStoreOptions(flags)
  const own = options.database ?? resolve(options.data ?? '.tool-hub')
  const [from, to] = await Promise.all([placeOf(flags.from, own), placeOf(flags.to, own)])
  const report = await copyPlaces(await openSource(from), () => openTarget(to), sayProgress())
  // The owner has chosen this content: a mark of an earlier store in the folder says nothing about it.
  if (typeof to === 'string') await acceptStore(to)
  else if (report.tables.segments === undefined) await noteFirstCopy(to)
  if (flags.json) return printJson(report)
  const tables = Object.keys(report.tables).length
  await print(
    `Copied ${countNoun(report.rows, 'row')} of ${countNoun(tables, 'table')}; both stores are equal (SHA-256 ${report.checksum}).`,
  )
}

async function placeOf(written: string | undefined, own: string | DatabaseOptions): Promise<string | DatabaseOptions> {
  if (written === undefined) return own
  if (!/^postgres(ql)?:|^\$\{/.test(written)) return resolve(written)
  const url = await resolveDatabase(written, '--from or --to')
  // How to connect to the database of the config is in the config.
  return typeof own === 'object' && own.url === url ? own : withSchema(url)
}

function withSchema(text: string): DatabaseOptions {
  const url = new URL(text)
  const schema = url.searchParams.get('schema')
  url.searchParams.delete('schema')
  return { url: url.href, ...(schema !== null && { schema }) }
}

async function copyPlaces(
  source: CopyPlace,
  openOther: () => Promise<CopyPlace>,
  onProgress?: NonNullable<Parameters<typeof copyTables>[2]>['onProgress'],
): Promise<CopyReport> {
  try {
    const target = await openOther()
    try {
      return await copyTables(source, target, { onProgress, signal: interruptSignal() })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

const SAY_EVERY_MS = 2_000

/** One line every two seconds. */
function sayProgress(): (progress: { readonly table: string; readonly rows: number; readonly total: number }) => void {
  let saidAt = Date.now()
  return ({ table, rows, total }) => {
    if (Date.now() - saidAt < SAY_EVERY_MS) return
    saidAt = Date.now()
    say(`${table}: ${rows} of ${countNoun(total, 'row')}.`)
  }
}

async function readStoreOptions(flags: Flags): Promise<StoreOptions> {
  return (await readCliConfig({ ...flags, plugins: false })).options
}

async function withStore(options: StoreOptions, use: (store: Store) => Promise<void>): Promise<void> {
  const store = openStoreOf(options)
  try {
    await use(store)
  } finally {
    await store.close()
  }
}
