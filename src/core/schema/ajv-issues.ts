import type { ErrorObject } from 'ajv/dist/2020.js'
import { pointerKeys, valueAt } from '../../lib/index.ts'
import {
  fitsNone,
  MAX_ISSUES,
  missingKey,
  notOneOf,
  propertyNamesAt,
  quoteValue,
  unknownKey,
  wrongType,
} from './issues.ts'
import type { JsonObject, SchemaIssue } from './schema.ts'

interface Checked {
  readonly value: unknown
  readonly schema: JsonObject
}

/** Only sums up errors that are listed too. */
const SUMMARIES: ReadonlySet<string> = new Set(['if', 'propertyNames'])

/** What ajv found, in words a model can act on; the errors of a union's branches become one issue. */
export function fromAjvErrors(errors: readonly ErrorObject[], checked: Checked): SchemaIssue[] {
  const issues = foldUnions(errors, checked).slice(0, MAX_ISSUES).map(toIssue)
  return issues.length > 0 ? issues : [{ path: '', message: 'must fit the schema' }]
}

/** An issue not yet put into words: only a few of a thousand errors will be. */
interface Found {
  readonly path: string
  readonly schemaPath: string
  readonly say: () => string
}

/** ajv reports a union right after the errors of its branches. */
function foldUnions(errors: readonly ErrorObject[], checked: Checked): Found[] {
  const found: Found[] = []
  for (const error of errors) {
    if (SUMMARIES.has(error.keyword)) continue
    const isUnion = error.keyword === 'anyOf' || error.keyword === 'oneOf'
    const branches = isUnion ? takeBranches(found, error, checked.schema) : []
    const say = isUnion ? () => sayUnion(error, branches) : () => sayError(error, checked)
    found.push({ path: error.instancePath, schemaPath: error.schemaPath, say })
  }
  return found
}

/** Takes the errors of a union's branches off the end of the list, grouped, with paths from the union on. */
function takeBranches(
  found: Found[],
  { schemaPath: unionPath, instancePath }: ErrorObject,
  schema: JsonObject,
): Found[][] {
  const forms = valueAt(schema, pointerKeys(unionPath))
  if (!Array.isArray(forms)) return []
  const prefixes = forms.map(({ $ref }, index) => {
    const own = `${unionPath}/${index}/`
    return { own, referred: typeof $ref === 'string' ? `${$ref}/` : own }
  })
  const branchOf = ({ path, schemaPath }: Found): number =>
    path.startsWith(instancePath)
      ? prefixes.findIndex(({ own, referred }) => schemaPath.startsWith(own) || schemaPath.startsWith(referred))
      : -1
  const first = found.findLastIndex((each) => branchOf(each) === -1) + 1
  const branches = new Map<number, Found[]>()
  for (const each of found.splice(first)) {
    const branch = branches.get(branchOf(each)) ?? []
    branches.set(branchOf(each), branch)
    branch.push({ ...each, path: each.path.slice(instancePath.length) })
  }
  return [...branches.values()]
}

function toIssue({ path, say }: Found): SchemaIssue {
  return { path, message: say() }
}

function sayUnion({ params }: ErrorObject, branches: readonly Found[][]): string {
  if (params.passingSchemas) return 'must fit exactly one of the allowed forms, fits several'
  return fitsNone(branches.map((branch) => branch.slice(0, MAX_ISSUES).map(toIssue)))
}

/** An error about the name of a key is reported at the object that has it. */
function sayError(error: ErrorObject, checked: Checked): string {
  const message = wording(error, checked)
  return error.propertyName === undefined ? message : `key ${quoteValue(error.propertyName)} ${message}`
}

function wording(
  { keyword, params, instancePath, propertyName, message }: ErrorObject,
  { value, schema }: Checked,
): string {
  const keys = pointerKeys(instancePath)
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(params.additionalProperty, propertyNamesAt(schema, keys))
    case 'unevaluatedProperties':
      return unknownKey(params.unevaluatedProperty, propertyNamesAt(schema, keys))
    case 'required':
      return missingKey(params.missingProperty)
    case 'type':
      return wrongType([params.type].flat().join(' or '), propertyName ?? valueAt(value, keys))
    case 'enum':
      return notOneOf(params.allowedValues)
    case 'const':
      return notOneOf([params.allowedValue])
    case 'pattern':
      return `must match the pattern ${quoteValue(params.pattern)}`
    case 'format':
      return `must be in the format ${quoteValue(params.format)}`
    case 'uniqueItems':
      return 'must have no two equal items'
    case 'false schema':
      return 'must not be given'
    case 'not':
      return 'must not fit the form under "not"'
    default:
      return message?.replace('NOT', 'not') ?? `must fit ${quoteValue(keyword)}`
  }
}
