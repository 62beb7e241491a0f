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

/** How many issues one validation names; a hostile value can have a million. */
export const MAX_ISSUES = 10
