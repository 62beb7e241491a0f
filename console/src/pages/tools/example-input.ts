import { firstValue, type JsonSchema, kindOf, resolve } from '../../components/schema-form/json-schema.ts'

/** A schema that may say examples of what fits. */
type WithExamples = JsonSchema & { readonly examples?: unknown; readonly example?: unknown }

/** What a form begins with: the schema's own examples where it has some, else the least that it takes. */
export function exampleInput(parameters: Readonly<Record<string, unknown>>): unknown {
  const root = parameters as WithExamples
  const whole = exampleOf(root)
  if (whole !== undefined) return whole
  const first = firstValue({ type: 'object', properties: {}, ...root }, root)
  if (kindOf(root) !== 'group' || typeof first !== 'object' || first === null) return first
  const examples = Object.entries(root.properties ?? {}).flatMap(([name, property]) => {
    const example = exampleOf(resolve(property, root))
    return example === undefined ? [] : [[name, example] as const]
  })
  return { ...first, ...Object.fromEntries(examples) }
}

/** The same with a stand-in for every required argument that is missing, to be read and replaced. */
export function sampleInput(parameters: Readonly<Record<string, unknown>>): unknown {
  const root = parameters as JsonSchema
  const input = exampleInput(parameters)
  if (kindOf(root) !== 'group' || typeof input !== 'object' || input === null) return input
  const missing = (root.required ?? []).filter((name) => !Object.hasOwn(input, name))
  const standIns = missing.map((name) => [name, standIn(root.properties?.[name] ?? {}, root)] as const)
  return { ...Object.fromEntries(standIns), ...input }
}

function standIn(schema: JsonSchema, root: JsonSchema): unknown {
  const known = resolve(schema, root)
  if (kindOf(known) === 'number') return known.minimum ?? 1
  return '…'
}

function exampleOf({ examples, example }: WithExamples): unknown {
  return Array.isArray(examples) ? examples[0] : example
}
