import type { Hub } from '../../hub.ts'
import { compileSchema } from '../../schema/compile-schema.ts'
import { UsageError } from '../usage-error.ts'
import { parseFlags } from './parse-flags.ts'
import { parseJson, readStdin } from './read-input.ts'

/** The arguments of a call as the command line gives them: JSON text, `-` for stdin, or flags; none is `{}`. */
export async function readArguments(hub: Hub, tool: string, words: readonly string[]): Promise<unknown> {
  const [first, ...others] = words
  if (first === undefined) return {}
  if (first.startsWith('--')) return parseFlagsOf(hub, tool, words)
  if (others.length > 0) {
    throw new UsageError(
      `${words.length} arguments after the tool.`,
      'Give one JSON text, or - for stdin, or --name value pairs.',
    )
  }
  return first === '-' ? parseJson(await readStdin(), 'stdin') : parseJson(first, 'The argument')
}

/** Typed by the schema of the wire arguments: the dialect's own where the tool was named by a dialect. */
function parseFlagsOf(hub: Hub, name: string, words: readonly string[]): unknown {
  const tool = hub.registry.get(name)
  // The call itself tells best what is wrong with the name.
  if (!tool) return {}
  const dialect = Object.values(tool.dialects ?? {}).find(
    ({ name: own, aliases = [] }) => own === name || aliases.includes(name),
  )
  return parseFlags(words, compileSchema(dialect?.input ?? tool.input, { side: 'input' }).jsonSchema())
}
