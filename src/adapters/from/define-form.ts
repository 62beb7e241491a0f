import {
  type AnyTool,
  assertToolName,
  type BaseContext,
  type Content,
  defineTool,
  messageOf,
  type Targets,
  ToolError,
  toolFailure,
} from '../../core/index.ts'
import type { AnySchema } from '../../core/schema/index.ts'
import type { FormGovernance } from './form-governance.ts'

/** What a tool of another framework says of itself. */
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
 * Makes a governed tool of a form. One that says nothing of what it touches counts as able to run commands: policy
 * denies it until a rule of the owner's allows it.
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
      // Frameworks take "nothing" for an answer; here null says it.
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
