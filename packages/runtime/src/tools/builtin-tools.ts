import { type AnyTool, type Dialect, lazyModule, ToolError } from '@tool-hub/core'
import { catalogue, schemasOf } from './catalogue.generated.ts'
import type { CatalogueEntry, ToolSchemas } from './catalogue.ts'
import { type CoreTool, toolLoaders } from './index.generated.ts'
import { openProvider, type WebSearchConfig } from './web/open-provider.ts'

type Schema = Extract<AnyTool['input'], { readonly '~standard': unknown }>
type WebSearch = Awaited<ReturnType<(typeof toolLoaders)['core/web.search']>>
type Fields = Readonly<Record<string, unknown>>

const loadFetchText = lazyModule(() => import('./http/fetch-text.ts'))
const loadWebSearch = lazyModule(() => import('./web/web-search.ts'))

/** The tools for files, commands, the web and values, sorted by name. */
export const coreTools = lazyTools(catalogue, schemasOf, toolLoaders) as readonly CoreTool[]

/**
 * Tools as a catalogue describes them. The code of each is loaded when its first call validates the arguments: loading
 * all of them took 120 of the 330 ms to the first call of a tool of one's own.
 */
export function lazyTools(
  entries: readonly CatalogueEntry[],
  schemas: (name: string) => ToolSchemas,
  loaders: Readonly<Record<string, () => Promise<AnyTool>>>,
): readonly AnyTool[] {
  return entries.map((entry) => lazyTool(entry, schemas, loaders[entry.tool.name]!))
}

/**
 * Creates the web search with a provider. Throws CONFIG_INVALID if the configuration names none.
 * @example
 * const hub = createToolHub({ tools: [createWebSearch({ provider: 'searxng', url: 'https://search.example.org' })] })
 */
export function createWebSearch(config?: WebSearchConfig): WebSearch {
  if (!config) return coreTools.find(({ name }) => name === 'core/web.search') as WebSearch
  const provider = openProvider(config)
  const tool = lazyTool(entryOf('core/web.search'), schemasOf, async () => (await loadWebSearch()).searchWith(provider))
  return Object.freeze({ ...tool, override: true }) as WebSearch
}

/** Creates `core/http.fetchText` for an owner who wants large answers stored completely in a file. */
export function createKeepingFetchText(): AnyTool {
  const tool = lazyTool(entryOf('core/http.fetchText'), schemasOf, async () => (await loadFetchText()).keepingFetchText)
  return Object.freeze({ ...tool, capabilities: Object.freeze([...tool.capabilities, 'write:fs'] as const) })
}

function entryOf(name: string): CatalogueEntry {
  return catalogue.find(({ tool }) => tool.name === name)!
}

/** A tool whose code is loaded by the first value that one of its schemas checks; calls validate before anything else. */
function lazyTool(
  { tool, functions, dialects }: CatalogueEntry,
  schemas: (name: string) => ToolSchemas,
  load: () => Promise<AnyTool>,
): AnyTool {
  let loaded: AnyTool | undefined
  const loadOnce = async () => {
    loaded = await load()
    return loaded
  }
  const real = () => {
    if (loaded) return loaded
    throw new ToolError('INTERNAL', `The code of ${tool.name} is not loaded yet: call the tool through a hub.`)
  }
  const schema = (jsonSchema: () => Record<string, unknown>, of: (tool: AnyTool) => AnyTool['output']): Schema => {
    let ready: Schema | undefined
    const prepare = async () => {
      ready = of(await loadOnce()) as Schema
      return ready
    }
    return {
      '~standard': {
        version: 1,
        vendor: 'tool-hub',
        validate: (value) =>
          ready ? ready['~standard'].validate(value) : prepare().then((own) => own['~standard'].validate(value)),
        jsonSchema: { input: jsonSchema, output: jsonSchema },
      },
      // So that a definition from the registry is complete as JSON.
      toJSON: jsonSchema,
    } as Schema
  }
  const dialectOf = (kind: string, { fields, functions, hasSchema }: CatalogueEntry['dialects'][string]): Dialect => {
    const own = (ready: AnyTool) => ready.dialects![kind]!
    return {
      ...fields,
      ...forwarded(functions, () => own(real())),
      // Called before any schema has checked a value.
      ...(functions.includes('checkSpelling') && {
        checkSpelling: async (args) => own(await loadOnce()).checkSpelling!(args),
      }),
      ...(hasSchema && {
        input: schema(
          () => schemas(tool.name).dialects[kind]!,
          (ready) => own(ready).input,
        ),
      }),
    }
  }
  return Object.freeze({
    ...tool,
    capabilities: Object.freeze(tool.capabilities),
    ...forwarded(functions, real),
    execute: (input, ctx) =>
      loaded ? loaded.execute(input, ctx) : loadOnce().then((ready) => ready.execute(input, ctx)),
    input: schema(
      () => schemas(tool.name).input,
      ({ input }) => input,
    ),
    output: schema(
      () => schemas(tool.name).output,
      ({ output }) => output,
    ),
    dialects: Object.fromEntries(Object.entries(dialects).map(([kind, entry]) => [kind, dialectOf(kind, entry)])),
  } satisfies AnyTool)
}

/** Functions that call those of the same name of a definition. */
function forwarded(names: readonly string[], target: () => object): Fields {
  const entries = names.map((name) => {
    const call = (...values: unknown[]) =>
      (target() as Record<string, (...values: unknown[]) => unknown>)[name]!(...values)
    return [name, call] as const
  })
  return Object.fromEntries(entries)
}
