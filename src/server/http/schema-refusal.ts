import type { z } from 'zod'
import { HttpRefusal } from './answer/http-refusal.ts'

const MAX_ISSUES = 5

/** What to answer when a part of a request does not fit its schema. */
export function schemaRefusal(part: 'body' | 'query', { issues }: z.ZodError): HttpRefusal {
  const told = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${[part, ...path].join('.')}: ${message}`)
  const more = issues.length > MAX_ISSUES ? `; and ${issues.length - MAX_ISSUES} more` : ''
  return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `${told.join('; ')}${more}.`.slice(0, 2_000), {
    hint: 'See /openapi.json for what this route takes.',
  })
}
