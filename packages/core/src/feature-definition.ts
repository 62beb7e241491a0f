import type { z } from 'zod'
import type { ResolvePath } from './config/index.ts'
import type { ToolError } from './errors.ts'
import type { Feature, FeatureHandles, FeatureHost, FeatureName, FeatureOptions, FeatureServices } from './feature.ts'
import type { CAPABILITY_OF_FEATURE } from './features.generated.ts'
import type { Awaitable } from './lib/index.ts'
import type { Principal } from './principal.ts'
import type { Scope } from './protocol/index.ts'
import type { Store } from './store.ts'
import type { AnyTool } from './tool.ts'
import type { ToolArrangement } from './tool-card.ts'

type HandleOf<Name> = Name extends keyof FeatureHandles ? FeatureHandles[Name] : unknown
type OptionsOf<Name> = Name extends keyof FeatureOptions ? NonNullable<FeatureOptions[Name]> : object
type ServiceOf<Name> = Name extends keyof FeatureServices ? FeatureServices[Name] : object

/**
 * A feature of every hub. Its folder in `packages/features/src` has the definition in `index.ts`; the tools in the folder `tools`, and the files
 * `config.ts`, `store.ts`, `routes.ts`, `commands.ts` and `client.ts` are found by their names. docs/guides/add-a-feature.md shows all of them.
 */
export interface FeatureDefinition<Name extends FeatureName = FeatureName> {
  /** The key of its handle in `ctx`, of its service in the hub, of its options, and of its section in the config file. */
  readonly name: Name
  /** The capability that grants a tool the handle. */
  readonly capability: (typeof CAPABILITY_OF_FEATURE)[Name]
  /** Creates the feature when it is first used. Load its code with `lazyModule`, so that importing the package stays light. */
  create(options: OptionsOf<Name>, host: FeatureHost): Promise<Feature<HandleOf<Name>, ServiceOf<Name>>>
  /** All methods of its service; calling one creates the feature first. */
  readonly methods: readonly string[]
  /** What the owner's options change about the tools. Default: nothing. */
  adjustTools?(options: OptionsOf<Name>): ToolAdjustment
  /** Which of the visible tools a model is shown. Default: all of them. */
  arrangeTools?(options: OptionsOf<Name>): ToolArrangement
  /** Tools that it keeps in the store, besides those of its folder. Default: none. */
  readonly storedTools?: StoredTools<OptionsOf<Name>>
  /** Programs that its options start outside of calls: nothing that an agent does may change their code. Default: none. */
  programs?(options: OptionsOf<Name>): readonly { readonly argv: readonly string[]; readonly cwd?: string }[]
  /** What the service does with it besides its routes. Default: nothing. */
  readonly inService?: FeatureServer
  /** What `doctor` says about it; throws nothing for what it finds. Default: nothing. */
  examine?(options: OptionsOf<Name>): Promise<DoctorFinding>
  /** The command in the help of the command line; `commands.ts` adds its arguments and actions. Default: none. */
  readonly command?: { readonly name: string; readonly summary: string }
}

/** Tools of a feature that are in the store of the hub. */
export interface StoredTools<Options = never> {
  /** The beginnings of their names, canonical and as models call them; a call by an unknown one looks in the store again. */
  readonly prefixes: readonly string[]
  /** Reads them when a hub starts and after changes. The tools are made only if `version` is another than before. */
  read(options: Options, store: Store): Awaitable<{ readonly version: string; tools(): Awaitable<readonly AnyTool[]> }>
}

/** What the options of a feature change about its tools. */
export interface ToolAdjustment {
  /** Tools by name, and what takes the place of each. */
  readonly replaced?: ReadonlyMap<string, (tool: AnyTool) => AnyTool>
  /** Names of tools that are turned off; calling one fails with this error. */
  readonly off?: { readonly tools: readonly string[]; readonly why: () => ToolError }
}

/** One thing that `doctor` looked at. */
export interface DoctorFinding {
  readonly state: 'good' | 'weak' | 'broken'
  readonly what: string
  readonly detail: string
  /** What to do about it; absent if nothing is. */
  readonly fix?: string
}

/** Defines a feature; the types of its handle, service and options come from its `declare module`. */
export function defineFeature<
  const Name extends FeatureName,
  const Methods extends readonly (keyof ServiceOf<Name> & string)[],
>(
  definition: FeatureDefinition<Name> & { readonly methods: AllMethods<ServiceOf<Name>, Methods> },
): FeatureDefinition<Name> {
  return definition
}

/** Which of the visible tools a model is shown, as features say for the options of a hub. */
export function arrangementsOf(definitions: Iterable<FeatureDefinition>, options: object): readonly ToolArrangement[] {
  const own = options as Partial<Record<FeatureName, object>>
  return [...definitions].flatMap(({ name, arrangeTools }) => arrangeTools?.(own[name] ?? {}) ?? [])
}

/** The list, if no method of the service is missing in it; else the names of the missing ones. */
type AllMethods<Service, Methods extends readonly unknown[]> = [Exclude<keyof Service, Methods[number]>] extends [never]
  ? Methods
  : { readonly missing: Exclude<keyof Service, Methods[number]> }

/** The section of a feature in the config file, which `config.ts` exports as `<name>Config`. */
export interface FeatureConfig<Schema extends z.ZodType = z.ZodType, Options = unknown> {
  /** What the section is about. */
  readonly description: string
  /** Every key with its description and default. */
  readonly schema: Schema
  /** The options for `createToolHub`. */
  toOptions(written: z.output<Schema>, resolvePath: ResolvePath): Options
  /** Whether the options turn tools off, so that a hub has not all of the built-in ones. Default: never. */
  turnsToolsOff?(options: Options): boolean
  /** Keys that are allowed and hardly meant, with why. Default: none. */
  warnings?(written: z.output<Schema>): readonly { readonly key: string; readonly message: string }[]
}

/** Defines the section of a feature. */
export function defineConfig<Schema extends z.ZodType, Options>(
  config: FeatureConfig<Schema, Options>,
): FeatureConfig<Schema, Options> {
  return config
}

/** The HTTP routes of a feature, which `routes.ts` exports as `<name>Routes`. */
export interface FeatureRoutes {
  /** Entities that have a name in the OpenAPI document. */
  readonly schemas: Readonly<Record<string, z.ZodType>>
  readonly routes: readonly FeatureRoute[]
  /** What the resources of the client are, by name, for those that the routes name. */
  readonly resources?: Readonly<Record<string, string>>
}

/** What the service does with a feature besides its routes. */
export interface FeatureServer {
  /** Begins work in the background when the service starts. */
  readonly start?: {
    /** The beginning of the message when it fails. */
    readonly problem: string
    run(hub: FeatureServices, options: FeatureOptions): Promise<unknown>
  }
  /** What the feature knows about a run; `undefined` if nothing. */
  describeRun?(run: string, store: Store): Awaitable<RunDescription | undefined>
  /** The principals that the feature works for, one for each piece of work: the service counts them. */
  principals?(store: Store, limit: number): Awaitable<readonly string[]>
}

/** What a run is for. */
export interface RunDescription {
  /** The principal that it works for. */
  readonly principal: string
  /** The name that its creator chose. */
  readonly label?: string
  /** What it was started for. */
  readonly goal?: string
  /** Why it cannot be removed now, and what to do about it. Default: it can. */
  readonly busy?: readonly [problem: string, hint: string]
}

/** One route. The server authenticates the caller and checks scopes, query and body before it is handled. */
export interface FeatureRoute {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** As OpenAPI writes it: `/v1/notes/{id}`. */
  readonly path: string
  readonly summary: string
  /** Default: the client has no method for it. */
  readonly client?: RouteClientMethod
  /** A caller needs one of these scopes. */
  readonly allow: readonly [Scope, ...Scope[]]
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** Open to everybody, also to pages without an origin: nobody is authenticated. Default: `false`. */
  readonly isOpen?: boolean
  /** What it answers, for the OpenAPI document; the first one is the status of a value. */
  readonly answers: readonly [FeatureRouteAnswer, ...FeatureRouteAnswer[]]
  /**
   * The run that a request concerns, such as the one whose artifact it shows: in a cluster, the process that has the run
   * answers. Default: none.
   */
  run?(request: FeatureRequest): Awaitable<string | undefined>
  /** Returns a value for JSON, `undefined` for an empty answer, or a `Response` for anything else; throws a ToolError. */
  handle(request: FeatureRequest): Awaitable<unknown>
}

/**
 * How the client of the service offers a route: resource and method, such as `runs.get`, or more. `npm run generate`
 * writes the method: it takes the parameters of the path, then the query or the body, and returns the answer.
 */
export type RouteClientMethod =
  | string
  | {
      readonly name: string
      /** Added to the summary of the route in the comment of the method. */
      readonly note?: string
      /** The member of the answer that the method returns. Default: the whole answer. */
      readonly returns?: string
      /** Members of the body that are arguments of their own. Default: the body is one argument. */
      readonly takes?: readonly string[]
    }

/** One answer of a route. */
export interface FeatureRouteAnswer {
  readonly description: string
  /** Default: none. */
  readonly schema?: z.ZodType
  /** Default: `application/json`. */
  readonly mediaType?: string
  /** Default: 200. */
  readonly status?: number
}

/** A request to a route of a feature. */
export interface FeatureRequest<Query = unknown, Body = unknown> {
  /** The services of the hub. */
  readonly hub: FeatureServices
  readonly store: Store
  readonly caller: RouteCaller
  /** A parameter of the path; empty if the path has none of this name. */
  param(name: string): string
  readonly query: Query
  readonly body: Body
  /** The host that the request names. */
  readonly host: string | undefined
}

/** A file as the answer of a route: the server adds its ETag, and sends the smallest form that the client accepts. */
export class FileAnswer {
  readonly file: ServedFile
  /** Headers that take the place of the server's own. */
  readonly headers: Readonly<Record<string, string>>

  constructor(file: ServedFile, headers: Readonly<Record<string, string>> = {}) {
    this.file = file
    this.headers = headers
  }
}

/** A file with the forms that it is sent in. */
export interface ServedFile {
  /** Its media type. */
  readonly type: string
  readonly bytes: Uint8Array
  readonly brotli?: Uint8Array
  readonly gzip?: Uint8Array
  /** As the header has it, in quotes. */
  readonly etag: string
  /** It never changes under its name. */
  readonly isImmutable: boolean
}

/** Who sent a request. */
export interface RouteCaller {
  /** `token:ci`, `user:ada`, `owner`: the name of its principal. */
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** Its rights, for work that outlives the request; absent for the owner of the hub. */
  readonly rights?: Principal
  /** Whether a principal is the caller, or a session that works for the caller. */
  isBehind(principal: string): boolean
}

/** Defines a route; `query` and `body` of the request have the types of their schemas. */
export function defineFeatureRoute<Query extends z.ZodType = z.ZodUndefined, Body extends z.ZodType = z.ZodUndefined>(
  route: Omit<FeatureRoute, 'query' | 'body' | 'handle'> & {
    readonly query?: Query
    readonly body?: Body
    handle(request: FeatureRequest<z.output<Query>, z.output<Body>>): Awaitable<unknown>
  },
): FeatureRoute {
  return route
}
