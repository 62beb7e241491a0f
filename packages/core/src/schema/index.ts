export { compileSchema } from './compile-schema.ts'
export { describeIssues } from './issues.ts'
export { cloneJson, FORMS, textArguments, toModernSchema } from './json-schema.ts'
export { linearRegExp } from './linear-regexp.ts'
export type {
  AnySchema,
  CompiledSchema,
  JsonObject,
  JsonSchema,
  SchemaResult,
  StandardResult,
  StandardSchema,
} from './schema.ts'
export { fromStandardIssues } from './standard-issues.ts'
