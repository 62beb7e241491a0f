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
export type Infer<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { output: infer O }
    ? O
    : unknown
  : S extends { static: infer T } // @sinclair/typebox 0.x carries its type
    ? T
    : FromJson<S>

/** What a caller may pass: defaults are still optional here. */
export type InferInput<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { input: infer I }
    ? I
    : unknown
  : S extends { static: infer T }
    ? T
    : FromJson<S>

/** Common JSON Schema to TypeScript. Anything it does not know becomes `unknown`, never `any`. */
export type FromJson<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { anyOf: readonly (infer U)[] }
      ? EachFromJson<U>
      : S extends { oneOf: readonly (infer U)[] }
        ? EachFromJson<U>
        : S extends { type: 'string' }
          ? string
          : S extends { type: 'number' | 'integer' }
            ? number
            : S extends { type: 'boolean' }
              ? boolean
              : S extends { type: 'null' }
                ? null
                : S extends { type: 'array'; items: infer I }
                  ? FromJson<I>[]
                  : S extends { type: 'object'; properties: infer P }
                    ? FromProperties<P, S extends { required: readonly (infer R)[] } ? R : never>
                    : unknown

type EachFromJson<U> = U extends unknown ? FromJson<U> : never

type FromProperties<P, R> = Flat<
  { -readonly [K in keyof P as K extends R ? K : never]: FromJson<P[K]> } & {
    -readonly [K in keyof P as K extends R ? never : K]?: FromJson<P[K]>
  }
>

type Flat<T> = { [K in keyof T]: T[K] } & {}
