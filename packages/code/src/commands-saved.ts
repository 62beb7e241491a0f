import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'

type Flags = CommandFlags & { readonly json?: boolean }
type SaveFlags = Flags & {
  readonly script?: string
  readonly file?: string
  readonly description?: string
  readonly inputSchema?: string
}

const SAVE_HELP = `
The tool script/NAME runs exactly this source; its SHA-256 is stored with it. It is a tool of every hub with this data
folder. Rules can name it like any other tool, and its calls are decided as calls of a script.

Examples:
  tool-hub code save count --file count.js --description "Count the files of a folder."
  tool-hub code save report --file report.ts --input-schema report.schema.json
  tool-hub code save deploy --script ID`

/** `code save`, `code saved` and `code remove`: scripts that are tools. */
export function describeSaved(group: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(group.command('save'))
    .summary('Save a script as a tool')
    .description(
      'Save a script as the tool script/NAME, from a file or from a completed script that was suspended before.',
    )
    .argument('<name>', 'Letters, digits, - and _')
    .option('--script <id>', 'Save the source of this completed script')
    .option('--file <file>', 'Save this source, or - for stdin')
    .option('--description <text>', 'When to use the tool, for models')
    .option('--input-schema <file>', 'JSON Schema of the arguments, which the script reads as input. Default: none')
    .addHelpText('after', SAVE_HELP)
    .action((name: string, flags: SaveFlags) => save(kit, name, flags))
  kit
    .addConfigOption(group.command('saved'))
    .summary('List the scripts that are tools')
    .description('List the scripts that were saved as tools; with --json, with their sources and schemas.')
    .addHelpText('after', '\nExamples:\n  tool-hub code saved')
    .action((flags: Flags) => list(kit, flags))
  kit
    .addConfigOption(group.command('remove'))
    .summary('Remove a tool that is a script')
    .description('Remove a saved script and its tool. Calls under way continue.')
    .argument('<name>', 'Name of the script, without script/')
    .addHelpText('after', '\nExamples:\n  tool-hub code remove count')
    .action((name: string, flags: Flags) => remove(kit, name, flags))
}

async function save(kit: CommandKit, name: string, flags: SaveFlags): Promise<void> {
  const { json, script, file, description, inputSchema, ...hubFlags } = flags
  if ((script === undefined) === (file === undefined))
    throw kit.usageError('Give --file or --script.', 'A file has any source; a script is one that has completed.')
  const wanted = {
    name,
    ...(script !== undefined && { script }),
    ...(file !== undefined && { source: await kit.readTextFile(file) }),
    ...(description !== undefined && { description }),
    ...(inputSchema !== undefined && { inputSchema: await readSchema(kit, inputSchema) }),
  }
  const saved = await kit.withServiceHub(hubFlags, (hub) => hub.code.save(wanted, { by: kit.callerName() }))
  if (json) return kit.printJson(saved)
  await kit.print(`Saved script/${saved.name}, sha256 ${saved.sha256}.`)
  if (inputSchema === undefined) kit.say('It takes no arguments; --input-schema describes them.')
}

async function readSchema(kit: CommandKit, file: string): Promise<Record<string, unknown>> {
  const schema = kit.parseJson(await kit.readTextFile(file), file)
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as Record<string, unknown>
  throw kit.usageError(`${file} is no JSON Schema of an object.`, 'It begins with {"type":"object","properties":{…}}.')
}

async function list(kit: CommandKit, { json, ...flags }: Flags): Promise<void> {
  const saved = await kit.withHub(flags, (hub) => hub.code.saved())
  if (json) return kit.printJson(saved)
  if (saved.length === 0) return kit.say('No script is a tool. Save one with tool-hub code save NAME --file FILE.')
  await kit.print(
    kit.table(
      saved.map(({ name, sha256, savedBy, savedAt, description }) => [
        `script/${name}`,
        sha256.slice(0, 12),
        new Date(savedAt).toISOString().slice(0, 16).replace('T', ' '),
        savedBy,
        escapeLine(description),
      ]),
    ),
  )
}

async function remove(kit: CommandKit, name: string, { json, ...flags }: Flags): Promise<void> {
  await kit.withServiceHub(flags, (hub) => hub.code.removeSaved(name, { by: kit.callerName() }))
  await (json ? kit.printJson({ removed: name }) : kit.print(`Removed script/${name}.`))
}
