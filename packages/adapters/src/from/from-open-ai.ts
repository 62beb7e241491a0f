import { type AnyTool, type Content, ToolError } from '@tool-hub/core'
import { acceptSchema, defineForm, type FormGovernance, NO_ARGUMENTS } from './define-form.ts'

interface FunctionFacts {
  /** Becomes the canonical name unless the governance sets another. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description?: string | null | undefined
  /** JSON Schema of the arguments. Default: no arguments. */
  readonly parameters?: object | null | undefined
  /** Accepted and ignored: the hub always validates. */
  readonly strict?: boolean | null | undefined
}

/** A function definition of the Chat Completions API or the Responses API. */
export type OpenAiFunction =
  | { readonly type: 'function'; readonly function: FunctionFacts }
  | ({ readonly type: 'function'; readonly function?: undefined } & FunctionFacts)

/** What a handler receives in addition to the arguments. */
export interface OpenAiHandlerOptions {
  /** Id of the call, as records name it. */
  readonly callId: string
  /** Aborts when the call is stopped or times out. */
  readonly signal: AbortSignal
  /** Sends a piece of progress to the caller. */
  progress(update: Content): void
}

/**
 * Converts an OpenAI function definition and its handler. A tool without declared capabilities counts as able to run
 * commands: policy denies it until a rule of yours allows it.
 * @example
 * const hub = createToolHub({ tools: [fromOpenAi(definition, ({ city }) => forecast(city), { capabilities: ['network'] })] })
 */
// biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the author's; they are validated by their schema
export function fromOpenAi<P = any>(
  definition: OpenAiFunction,
  handler: (args: P, options: OpenAiHandlerOptions) => unknown,
  governance: FormGovernance<P> = {},
): AnyTool {
  const facts = factsOf(definition)
  if (typeof handler !== 'function') throw unusable(`The function ${facts.name} has no handler.`)
  return defineForm(
    {
      kind: 'OpenAI function',
      toolKind: 'openai',
      name: facts.name,
      description: facts.description,
      input: facts.parameters ? acceptSchema(facts.parameters, facts.name) : NO_ARGUMENTS,
      execute: (args, ctx) =>
        handler(args as P, {
          callId: ctx.callId,
          signal: ctx.signal,
          progress: (update) => ctx.progress(update),
        }),
    },
    governance,
  )
}

function factsOf(definition: OpenAiFunction): FunctionFacts {
  if (definition?.type === 'function') return definition.function ?? definition
  throw unusable(`A tool of type ${JSON.stringify(definition?.type)} is not a function definition.`)
}

function unusable(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, {
    hint: 'Give { type: "function", function: { name, description, parameters } }, or its flat form, and a function that does it.',
  })
}
