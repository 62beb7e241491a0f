import { isPlainObject } from '../../value/is-plain-object.ts'

const NUMBERS = new Set(
  `multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minContains
  maxContains minProperties maxProperties`.split(/\s+/),
)
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** True for a keyword of JSON Schema that holds no schema, with a value it can have: documents are often careless. */
export function isPlainKeyword(keyword: string, value: unknown): boolean {
  if (NUMBERS.has(keyword)) return typeof value === 'number' && Number.isFinite(value)
  switch (keyword) {
    case 'type':
      return [value].flat().every((type) => typeof type === 'string' && TYPES.has(type))
    case 'enum':
      return Array.isArray(value) && value.length > 0
    case 'const':
      return true
    case 'format':
      return typeof value === 'string'
    case 'uniqueItems':
      return typeof value === 'boolean'
    case 'dependentRequired':
      return isPlainObject(value) && Object.values(value).every(Array.isArray)
    default:
      return false
  }
}
