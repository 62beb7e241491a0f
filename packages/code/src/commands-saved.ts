import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'

type SaveFlags = CommandFlags & {
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
export function addSavedCommands(group: CommandBuilder, kit: CommandKit): void {
  kit.addCommand(group, {
    name: 'save',
    summary: 'Save a script as a tool',
    description:
      'Save a script as the tool script/NAME, from a file or from a completed script that was suspended before.',
    words: { '<name>': 'Letters, digits, - and _' },
    options: (to) =>
      to
        .option('--script <id>', 'Save the source of this completed script')
        .option('--file <file>', 'Save this source, or - for stdin')
        .option('--description <text>', 'When to use the tool, for models')
        .option(
          '--input-schema <file>',
          'JSON Schema of the arguments, which the script reads as input. Default: none',
        ),
    help: SAVE_HELP,
    async run({ script, file, description, inputSchema, ...flags }: SaveFlags, name: string) {
      if ((script === undefined) === (file === undefined))
        throw kit.usageError('Give --file or --script.', 'A file has any source; a script is one that has completed.')
      const wanted = {
        name,
        ...(script !== undefined && { script }),
        ...(file !== undefined && { source: await kit.readTextFile(file) }),
        ...(description !== undefined && { description }),
        ...(inputSchema !== undefined && { inputSchema: await readSchema(kit, inputSchema) }),
      }
      return kit.withServiceHub(flags, (hub) => hub.code.save(wanted, { by: kit.callerName() }))
    },
    async show({ name, sha256 }, { inputSchema }) {
      await kit.print(`Saved script/${name}, sha256 ${sha256}.`)
      if (inputSchema === undefined) kit.say('It takes no arguments; --input-schema describes them.')
    },
  })
  kit.addCommand(group, {
    name: 'saved',
    summary: 'List the scripts that are tools',
    description: 'List the scripts that were saved as tools; with --json, with their sources and schemas.',
    help: '\nExamples:\n  tool-hub code saved',
    run: (flags: CommandFlags) => kit.withHub(flags, (hub) => hub.code.saved()),
    show: (saved) =>
      kit.printTable(
        saved.map(({ name, sha256, savedBy, savedAt, description }) => [
          `script/${name}`,
          sha256.slice(0, 12),
          kit.minuteOf(savedAt),
          savedBy,
          escapeLine(description),
        ]),
        'No script is a tool. Save one with tool-hub code save NAME --file FILE.',
      ),
  })
  kit.addCommand(group, {
    name: 'remove',
    summary: 'Remove a tool that is a script',
    description: 'Remove a saved script and its tool. Calls under way continue.',
    words: { '<name>': 'Name of the script, without script/' },
    help: '\nExamples:\n  tool-hub code remove count',
    async run(flags: CommandFlags, name: string) {
      await kit.withServiceHub(flags, (hub) => hub.code.removeSaved(name, { by: kit.callerName() }))
      return { removed: name }
    },
    show: ({ removed }) => `Removed script/${removed}.`,
  })
}

async function readSchema(kit: CommandKit, file: string): Promise<Record<string, unknown>> {
  const schema = kit.parseJson(await kit.readTextFile(file), file)
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as Record<string, unknown>
  throw kit.usageError(`${file} is no JSON Schema of an object.`, 'It begins with {"type":"object","properties":{…}}.')
}
