/** A JSON Schema written by hand, or one that TypeBox built. */
export interface JsonSchema {
  readonly type?: unknown
  readonly properties?: unknown
  readonly anyOf?: unknown
  readonly oneOf?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly $ref?: unknown
}

/** What Standard Schema libraries (zod 4.2+, arktype, valibot with its converter) expose. */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    readonly types?: { readonly input: In; readonly output: Out } | undefined
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>
      readonly output: (options: { readonly target: string }) => Record<string, unknown>
    }
  }
}

/** One thing that is wrong, and where. */
export interface StandardIssue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

/** A value that passed, or what is wrong with it. */
export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

// biome-ignore lint/suspicious/noExplicitAny: a schema of any input and output; the phantom types carry the real ones
export type AnySchema = StandardSchema<any, any> | JsonSchema

/** The value a tool receives once its input passed the schema. */
export type Infer<S> = S extends { readonly _zod: { readonly output: unknown } } // the same as below, at half the cost to the compiler
  ? S['_zod']['output']
  : S extends { readonly '~standard': { readonly types?: { readonly output: unknown } } }
    ? NonNullable<S['~standard']['types']>['output']
    : S extends { static: infer T } // @sinclair/typebox 0.x carries its type
      ? T
      : FromJson<S, Defaulted>

/** What a caller may pass: defaults are still optional here. */
export type InferInput<S> = S extends { readonly _zod: { readonly input: unknown } }
  ? S['_zod']['input']
  : S extends { readonly '~standard': { readonly types?: { readonly input: unknown } } }
    ? NonNullable<S['~standard']['types']>['input']
    : S extends { static: infer T }
      ? T
      : FromJson<S>

/** A schema whose value the runtime fills in when it is missing. */
interface Defaulted {
  readonly default: unknown
}

/**
 * Common JSON Schema to TypeScript. Anything it does not know becomes `unknown`, never `any`.
 * Properties whose schema extends `Filled` are always there; inside a union no default is filled.
 */
export type FromJson<S, Filled = never> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { anyOf: readonly (infer U)[] }
      ? EachFromJson<U>
      : S extends { oneOf: readonly (infer U)[] }
        ? EachFromJson<U>
        : S extends { type: keyof Primitives }
          ? Primitives[S['type']]
          : S extends { type: 'array'; items: infer I }
            ? FromJson<I, Filled>[]
            : S extends { type: 'object'; properties: infer P }
              ? FromProperties<
                  P,
                  KeysOf<P, Filled> | (S extends { required: readonly (infer R)[] } ? R : never),
                  Filled
                >
              : unknown

interface Primitives {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type EachFromJson<U> = U extends unknown ? FromJson<U> : never

type FromProperties<P, R, Filled> = Flat<
  { -readonly [K in keyof P & R]: FromJson<P[K], Filled> } & {
    -readonly [K in Exclude<keyof P, R>]?: FromJson<P[K], Filled>
  }
>

type KeysOf<P, Filled> = [Filled] extends [never] ? never : { [K in keyof P]: P[K] extends Filled ? K : never }[keyof P]

type Flat<T> = { [K in keyof T]: T[K] } & {}

/** A schema made ready for a tool: it checks values and shows itself as JSON Schema. */
export interface CompiledSchema {
  /** Sync when it can be: never a promise for zod, TypeBox or JSON Schema, except while ajv is still loading. */
  validate(value: unknown): SchemaResult | Promise<SchemaResult>
  /** JSON Schema 2020-12 of it, made on first use and frozen. */
  jsonSchema(): JsonObject
}

/** The checked value with its defaults filled, or what is wrong with it. */
export type SchemaResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

/** One thing that is wrong, and where. */
export interface SchemaIssue {
  /** JSON pointer into the value: `/items/0/name`, empty for the value itself. */
  readonly path: string
  readonly message: string
}

/** Which way the value goes: defaults are filled for what comes in, never for what a tool returns. */
export type Side = 'input' | 'output'

/** A JSON object nobody looked into yet. */
export type JsonObject = Record<string, unknown>

/** The arguments that each action of a tool needs; a list stands for "one of these". */
type ActionNeeds = Readonly<Record<string, readonly (string | readonly string[])[]>>

interface RefinementContext {
  addIssue(issue: { code: 'custom'; message: string }): void
}

/**
 * A check for `superRefine`: a call whose action lacks an argument is refused before anybody is asked to approve it.
 * @example
 * z.strictObject({ action, name, text }).superRefine(actionNeeds('note', { save: ['name', 'text'], remove: ['name'] }))
 * // note save needs text
 */
export function actionNeeds(noun: string, needs: ActionNeeds) {
  return (input: { readonly action: string }, context: RefinementContext): void => {
    const given = new Map<string, unknown>(Object.entries(input))
    const isMissing = (key: string) => given.get(key) === undefined
    for (const need of Object.hasOwn(needs, input.action) ? needs[input.action]! : []) {
      const keys = typeof need === 'string' ? [need] : need
      if (!keys.every(isMissing)) continue
      context.addIssue({ code: 'custom', message: `${noun} ${input.action} needs ${wordList(keys)}` })
    }
  }
}

function wordList(keys: readonly string[]): string {
  return keys.length === 1 ? keys[0]! : `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`
}
