import { firstValue, type JsonSchema, kindOf, resolve } from '../../components/schema-form/json-schema.ts'

/** A schema with optional examples. */
type WithExamples = JsonSchema & { readonly examples?: unknown; readonly example?: unknown }

/** The initial value of a form: the examples of the schema, or the smallest valid input. */
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

/** The example input, with a placeholder for every missing required argument. */
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

/** A call with curl, for a POSIX shell. */
export function writeCurl(origin: string, tool: string, input: unknown): string {
  const body = JSON.stringify({ input }, null, 2)
  return [
    `curl ${quote(`${origin}/v1/tools/${encodeURIComponent(tool)}/call`)} \\`,
    `  -H "authorization: Bearer $TOOL_HUB_TOKEN" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d ${quote(body)}`,
  ].join('\n')
}

/** A call with the client of the package. */
export function writeClient(origin: string, tool: string, input: unknown): string {
  return [
    `import { createClient } from 'tool-hub/client'`,
    '',
    `const client = createClient({ url: ${JSON.stringify(origin)}, token: process.env.TOOL_HUB_TOKEN })`,
    `const result = await client.call(${JSON.stringify(tool)}, ${JSON.stringify(input, null, 2)})`,
    `if (!result.ok) throw new Error(\`\${result.error.code}: \${result.error.message} \${result.error.fix.hint}\`)`,
    'console.log(result.data)',
  ].join('\n')
}

/** Quotes a word for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
