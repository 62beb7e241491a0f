import {
  type AnyTool,
  assertToolName,
  type BaseContext,
  type Content,
  type ContentBlock,
  defineTool,
  type Governance,
  messageOf,
  type Targets,
  ToolError,
  toolFailure,
} from '@tool-hub/core'
import type { AnySchema, StandardSchema } from '@tool-hub/core/schema'

/** A tool of another framework, as far as the framework describes it. */
export interface ForeignForm {
  /** `AI SDK tool`, for messages. */
  readonly kind: string
  /** For listings. */
  readonly toolKind: AnyTool['kind']
  readonly name: string | undefined
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly input: AnySchema
  readonly output?: AnySchema | undefined
  readonly doubt?: string | undefined
  readonly execute: (input: unknown, ctx: BaseContext) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: what `execute` returned; only the form knows its type
  readonly toModel?: (data: any) => Content
}

/**
 * Defines a governed tool. One without declared capabilities counts as able to run commands: policy denies it until a
 * rule of the owner allows it.
 */
export function defineForm(form: ForeignForm, governance: FormGovernance): AnyTool {
  const { capabilities = ['exec'], targets, timeoutMs } = governance
  const name = nameOf(form, governance)
  return defineTool({
    name,
    title: governance.title ?? form.title,
    description: governance.description ?? form.description ?? `${form.title ?? name}.`,
    input: governance.input ?? form.input,
    output: form.output,
    kind: form.toolKind,
    capabilities,
    targets: targets as ((input: unknown) => Targets) | undefined,
    timeoutMs,
    doubt: form.doubt,
    async execute(input: unknown, ctx: BaseContext) {
      const value = await attempt(name, () => form.execute(input, ctx))
      // Frameworks allow a tool to return nothing; the result is null then.
      return value === undefined && !form.output ? null : value
    },
    toModel: form.toModel,
  }) as AnyTool
}

function nameOf({ kind, name: own }: ForeignForm, { name = own }: FormGovernance): string {
  try {
    assertToolName(name)
    return name
  } catch (cause) {
    const what = name === undefined ? `The ${kind} has no name.` : `The name of the ${kind} cannot be used here:`
    throw new ToolError('CONFIG_INVALID', name === undefined ? what : `${what} ${messageOf(cause)}`, {
      hint: 'Give it one with the option name: letters, digits, _ and - in parts joined by / or ., e.g. { name: "mail.send" }.',
      cause,
    })
  }
}

async function attempt(name: string, work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (thrown) {
    throw toolFailure(name, thrown, `${name} failed: `)
  }
}

/**
 * What policy needs to know about a tool and another framework cannot declare, and overrides of what it does declare.
 */
// biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the author's; they are validated by their schema
export interface FormGovernance<P = any> extends Governance<P> {
  /** Its name in the hub, if its own is not a valid tool name or is taken. */
  readonly name?: string
  /** A short name for people. Default: the tool's own. */
  readonly title?: string
  /** When to use it, for the model. Default: the tool's own. */
  readonly description?: string
  /** Schema of the arguments, if its own has no JSON Schema form (zod 3). */
  readonly input?: AnySchema
  /** Time limit of one call. Default: `limits.timeoutMs` of the hub. */
  readonly timeoutMs?: number
}

/**
 * Checks that the schema of another framework's tool (zod, arktype, JSON Schema) can be shown to models. Throws
 * CONFIG_INVALID if not.
 */
export function acceptSchema(schema: unknown, what: string): AnySchema {
  if (isStandard(schema)) {
    const { vendor, jsonSchema } = schema['~standard']
    if (jsonSchema) return schema
    throw unusable(what, `was made with a version of ${vendor} that has no JSON Schema form`)
  }
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema
  throw unusable(what, `is ${schema === null ? 'null' : typeof schema}, not a schema`)
}

/** Schema of a tool without arguments. */
export const NO_ARGUMENTS = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })

function isStandard(schema: unknown): schema is StandardSchema {
  const isHolder = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  return isHolder && typeof (schema as Partial<StandardSchema>)['~standard']?.validate === 'function'
}

function unusable(what: string, why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The schema of ${what} ${why}.`, {
    hint: 'Give the schema of the arguments as JSON Schema, or with zod from 4.2, in the option input.',
  })
}

const MAX_CHARS = 10_000

/** Any value as text for progress and messages, of bounded length. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : toJson(value)
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // A cycle or a BigInt: only its type can be shown.
    return Object.prototype.toString.call(value)
  }
}

/** Bytes or a URL of a file, an image or audio. */
interface Media {
  /** base64. */
  readonly data?: unknown
  readonly url?: unknown
  readonly mediaType?: unknown
  readonly name?: unknown
}

const DATA_URL = /^data:([^;,]+);base64,/

/** Converts a piece of media to a content block. Returns `undefined` if it has neither bytes nor a URL. */
export function mediaBlock({ data, url, mediaType, name }: Media): ContentBlock | undefined {
  const type = typeof mediaType === 'string' ? mediaType : undefined
  if (typeof url === 'string') {
    const inline = DATA_URL.exec(url)
    if (inline) return mediaBlock({ data: url.slice(inline[0].length), mediaType: type ?? inline[1], name })
    return { type: 'resource-link', uri: url, name: fileNameOf(name, url), ...(type && { mediaType: type }) }
  }
  const bytes = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : data
  if (typeof bytes !== 'string') return undefined
  if (type?.startsWith('image/')) return { type: 'image', data: bytes, mediaType: type }
  if (type?.startsWith('audio/')) return { type: 'audio', data: bytes, mediaType: type }
  return {
    type: 'resource',
    uri: `attachment:${fileNameOf(name, 'file')}`,
    data: bytes,
    ...(type && { mediaType: type }),
  }
}

function fileNameOf(name: unknown, otherwise: string): string {
  return typeof name === 'string' && name !== '' ? name : otherwise
}
