import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { escapeLine } from '../../value/escape-text.ts'
import type { Definition, LeftOut } from './definition.ts'
import { findHeaderFault } from './find-header-fault.ts'
import { isDeeperThan } from './is-deeper-than.ts'
import { hashDefinition } from './pinned-parts.ts'

const LONGEST_NAME = 1_000
const LONGEST_DEFINITION = 200_000
/** Of all definitions of a server. */
const MOST_CHARS = 5_000_000
const DEEPEST_DEFINITION = 100
const SHOWN_NAME_CHARS = 80

const object = z.record(z.string(), z.unknown())

/** What is needed of a tool; the rest of it may be anything. */
const Given = z.looseObject({
  name: z.string().min(1).max(LONGEST_NAME),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  outputSchema: object.optional(),
  annotations: object.optional().catch(undefined),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined),
})

/** What a list of tools holds, tool by tool: one that is broken hides no other. Of two with one name the first is taken. */
export function readDefinitions(
  tools: readonly unknown[],
  { hasHeaders = false }: { readonly hasHeaders?: boolean } = {},
): { readonly definitions: readonly Definition[]; readonly leftOut: readonly LeftOut[] } {
  const definitions = new Map<string, Definition>()
  const leftOut: LeftOut[] = []
  const room = { chars: MOST_CHARS }
  for (const given of tools) {
    const read = attemptToRead(given, hasHeaders, room)
    if (typeof read === 'string') leftOut.push({ tool: nameOf(given) ?? 'one without a name', why: read })
    else if (definitions.has(read.tool)) leftOut.push({ tool: shown(read.tool), why: 'another has the same name' })
    else definitions.set(read.tool, read)
  }
  return { definitions: [...definitions.values()], leftOut }
}

/** One that cannot even be read hides no other. */
function attemptToRead(...given: Parameters<typeof readDefinition>): Definition | string {
  try {
    return readDefinition(...given)
  } catch (error) {
    return `it cannot be read: ${escapeLine(messageOf(error).slice(0, 300))}`
  }
}

/** The definition, or why it cannot be used. */
function readDefinition(given: unknown, hasHeaders: boolean, room: { chars: number }): Definition | string {
  if (isDeeperThan(given, DEEPEST_DEFINITION)) return `it is over ${DEEPEST_DEFINITION} levels deep`
  const chars = JSON.stringify(given)?.length ?? 0
  if (chars > LONGEST_DEFINITION) return `it has ${chars} characters, the limit is ${LONGEST_DEFINITION}`
  room.chars -= chars
  if (room.chars < 0) return `the definitions of its server have over ${MOST_CHARS} characters`
  const parsed = Given.safeParse(given)
  if (!parsed.success)
    return `it is not a tool: ${escapeLine(z.prettifyError(parsed.error).replaceAll('\n', ' ')).slice(0, 300)}`
  const { name, title, description = '', inputSchema, outputSchema, annotations = {}, execution } = parsed.data
  if (execution?.taskSupport === 'required') return 'it can only be called as a task'
  const fault = hasHeaders ? findHeaderFault(inputSchema) : undefined
  if (fault !== undefined) return fault
  if (holdsNoNumber([inputSchema, outputSchema, annotations])) return 'it holds a number that no JSON can hold'
  const definition = { tool: name, title, description, input: inputSchema, output: outputSchema, annotations }
  return { ...definition, hash: hashDefinition(definition) }
}

/** `1e400` is read as infinity, which cannot be written again, nor compared. */
function holdsNoNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNoNumber)
}

function nameOf(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || !('name' in given)) return undefined
  return typeof given.name === 'string' ? shown(given.name) : undefined
}

function shown(name: string): string {
  return escapeLine(name.slice(0, SHOWN_NAME_CHARS))
}
