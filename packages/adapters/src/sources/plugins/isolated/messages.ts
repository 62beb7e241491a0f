import { CAPABILITIES, type Capability, ERRORS, type ErrorCode, messageOf, type ProgramAccess } from '@tool-hub/core'
import { withStop } from '@tool-hub/core/lib'
import { z } from 'zod'
import { refuseReservedName } from '../../reserved-names.ts'

const id = z.int().min(1)
const text = z.string().max(10_000)
const json = z.record(z.string(), z.unknown())
const capability = z.enum(CAPABILITIES)
const pointer = z
  .string()
  .max(200)
  .regex(/^(?:\/[^/]+)+$/, 'is no JSON pointer such as /path')

/** A tool as a plugin in another process describes it: data without functions. */
export const isolatedDefinition = z.strictObject({
  name: z.string().max(64),
  title: text.optional(),
  description: z.string().max(50_000),
  input: json,
  output: json.optional(),
  capabilities: z.array(capability).max(CAPABILITIES.length),
  /** Where in the input the target of each capability is. */
  targets: z.partialRecord(capability, z.union([pointer, z.array(pointer).max(20)])).optional(),
  retry: z.strictObject({ attempts: z.int().min(1).max(10), baseMs: z.number().min(0).optional() }).optional(),
  callers: z.array(z.enum(['direct', 'script'])).optional(),
  timeoutMs: z.number().min(1).max(86_400_000).optional(),
  overflow: z.enum(['head', 'tail', 'middle', 'artifact']).optional(),
  maxOutputChars: z.int().min(1).optional(),
  examples: z
    .array(z.strictObject({ input: z.unknown(), note: text.optional() }))
    .max(50)
    .optional(),
  category: z.string().max(100).optional(),
  tags: z.array(z.string().max(100)).max(50).optional(),
  version: z.string().max(100).optional(),
  costUnits: z.number().min(0).optional(),
  mayDestroy: z.boolean().optional(),
  texts: z.array(z.string().max(200)).max(100).optional(),
  evidence: z.array(z.string().max(200)).max(100).optional(),
  /** It converts its data for the model itself. */
  hasModelForm: z.boolean(),
  isAgentTool: z.boolean().optional(),
  /** Properties that cannot cross the pipe. */
  lost: z.array(z.string().max(100)).max(10),
})

/** A tool as a plugin in another process describes it. */
export type IsolatedDefinition = z.infer<typeof isolatedDefinition>

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), stream: z.enum(['stdout', 'stderr']).optional() }),
  z.strictObject({ type: z.literal('image'), data: z.string(), mediaType: text }),
  z.strictObject({ type: z.literal('audio'), data: z.string(), mediaType: text }),
  z.strictObject({
    type: z.literal('resource'),
    uri: text,
    mediaType: text.optional(),
    text: z.string().optional(),
    data: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('resource-link'),
    uri: text,
    name: text,
    title: text.optional(),
    description: text.optional(),
    mediaType: text.optional(),
    bytes: z.number().optional(),
  }),
])

/** What a tool shows of its data or its progress. */
export const content = z.union([z.string(), z.array(block).max(1_000)])

const thrown = z.strictObject({
  code: z
    .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
    .optional()
    .catch(undefined),
  message: text,
  stack: text.optional(),
  fix: z
    .object({ key: text.optional(), value: z.unknown().optional(), hint: text.optional() })
    .optional()
    .catch(undefined),
  retryable: z.boolean().optional().catch(undefined),
  data: z.unknown().optional(),
})

/** What a tool threw. */
export type Thrown = z.infer<typeof thrown>

/**
 * Every message that the process of a plugin may send; mistakes of its author are reported where the message is used.
 */
const childMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), tools: z.array(z.unknown()).max(200) }),
  z.strictObject({ type: z.literal('failed'), message: text }),
  z.strictObject({
    type: z.literal('result'),
    call: id,
    value: z.unknown().optional(),
    content: z.unknown().optional(),
  }),
  z.strictObject({ type: z.literal('error'), call: id, error: thrown }),
  z.strictObject({ type: z.literal('report'), call: id, method: text, args: z.array(z.unknown()).max(10) }),
  z.strictObject({ type: z.literal('use'), call: id, id, method: text, args: z.array(z.unknown()).max(10) }),
  z.strictObject({ type: z.literal('pong'), id }),
])

/** A message of a plugin's process. */
export type ChildMessage = z.infer<typeof childMessage>

/** Parses a line of a plugin's process. A line that is not a valid message has the type `unknown`, which ends the process. */
export function parseMessage(line: string): ChildMessage | { readonly type: 'unknown' } {
  try {
    return childMessage.parse(JSON.parse(line))
  } catch {
    return { type: 'unknown' }
  }
}

/** The valid tools that a plugin described, and what is wrong with the others. */
export function toDefinitions(
  described: readonly unknown[],
  access: ProgramAccess,
): { readonly definitions: readonly IsolatedDefinition[]; readonly problems: readonly string[] } {
  const definitions: IsolatedDefinition[] = []
  const problems: string[] = []
  for (const [index, each] of described.entries()) {
    try {
      definitions.push(withAccess(toDefinition(each), access))
    } catch (error) {
      problems.push(`the tool ${nameOf(each) ?? index + 1} is left out: ${messageOf(error)}`)
    }
  }
  return { definitions, problems }
}

function toDefinition(described: unknown): IsolatedDefinition {
  const parsed = isolatedDefinition.safeParse(described)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(withStop(`${issue?.path.join('.')} ${issue?.message}`))
  }
  refuseReservedName(parsed.data.name)
  return parsed.data
}

/** What the sandbox lets its process do without the hub, every one of its tools can do, on targets that nobody sees. */
function withAccess(definition: IsolatedDefinition, { hosts = [], writable = [] }: ProgramAccess): IsolatedDefinition {
  const unseen: Capability[] = [
    ...(hosts.length > 0 ? (['network', 'send'] as const) : []),
    ...(writable.length > 0 ? (['write:fs'] as const) : []),
  ]
  if (unseen.length === 0) return definition
  const targets = Object.entries(definition.targets ?? {}).filter(([name]) => !unseen.includes(name as Capability))
  return {
    ...definition,
    capabilities: [...new Set([...definition.capabilities, ...unseen])],
    targets: Object.fromEntries(targets),
  }
}

function nameOf(described: unknown): string | undefined {
  if (typeof described !== 'object' || described === null || !('name' in described)) return undefined
  return typeof described.name === 'string' ? described.name.slice(0, 64) : undefined
}
