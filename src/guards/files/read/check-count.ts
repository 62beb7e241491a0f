import { ToolError } from '../../../errors.ts'

/** A whole number that a caller gave, or what is meant when it gave none. */
export function checkCount(name: string, value: number | undefined, fallback: number, least = 0): number {
  if (value === undefined) return fallback
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new ToolError('INPUT_SCHEMA_INVALID', `${name} is a whole number from ${least} on, not ${String(value)}.`, {
    fix: { key: name, hint: `Give ${name} as a whole number from ${least} on, or leave it out.` },
  })
}
