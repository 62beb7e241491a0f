import {
  type AnyTool,
  assertToolName,
  CAPABILITIES,
  CAPABILITY_OF_FEATURE,
  type CallerKind,
  type Capability,
  type Dialect,
  didYouMean,
  GUARDED,
  groupOf,
  ToolError,
  type ToolKind,
  toWireName,
} from '../../core/index.ts'
import { type CompiledSchema, compileSchema } from '../../core/schema/index.ts'
import { groupsOf } from '../../policy/index.ts'

const FEATURE_CAPABILITIES: ReadonlySet<Capability> = new Set(Object.values(CAPABILITY_OF_FEATURE))

/** Who brought a tool; a later origin replaces an earlier one of the same name. Those of the owner no agent sees. */
export type Origin = 'builtin' | 'plugin' | 'caller' | 'owner'

/** A tool with everything that is derived from it once. */
export interface RegisteredTool {
  readonly tool: AnyTool
  readonly origin: Origin
  readonly wire: string
  /** Canonical, wire and dialect names: what rules and lists may call it. */
  readonly names: readonly string[]
  /** Those that rules may call it by: a word that is a capability of its own means that capability. */
  readonly ruleNames: readonly string[]
  readonly group: string
  readonly groups: readonly string[]
  readonly kind: ToolKind
  readonly capabilities: ReadonlySet<Capability>
  /** The same, for policy. */
  readonly capabilityList: readonly Capability[]
  /** Those of the built-in tool whose place it has. */
  readonly floor?: readonly Capability[]
  /** May change something outside: its repetition is not free. */
  readonly hasEffects: boolean
  /** May do so past the sandbox: its intent is recorded before it runs. */
  readonly recordsFirst: boolean
  /** Uses a feature, which is created before the tool runs. */
  readonly usesFeature: boolean
  readonly callers: readonly CallerKind[]
  readonly input: CompiledSchema
  readonly output: CompiledSchema | undefined
  readonly dialects: ReadonlyMap<string, RegisteredDialect>
}

/** A dialect with its compiled schema. */
export interface RegisteredDialect {
  readonly kind: string
  readonly dialect: Dialect
  readonly input: CompiledSchema | undefined
}

/** Checks a tool and derives once what calls need of it; what its author changes later changes nothing. */
export function registerable(tool: AnyTool, origin: Origin): RegisteredTool {
  assertToolName(tool?.name)
  if (typeof tool.execute !== 'function') throw invalid(tool, 'has no execute function.')
  if (typeof tool.description !== 'string') throw invalid(tool, 'has no description.')
  if (tool.input === null || (typeof tool.input !== 'object' && typeof tool.input !== 'function')) {
    throw invalid(tool, 'has no input schema.')
  }
  for (const capability of tool.capabilities ?? []) {
    if (!(CAPABILITIES as readonly string[]).includes(capability)) {
      throw invalid(
        tool,
        `declares the unknown capability ${JSON.stringify(capability)}. ${didYouMean(capability, CAPABILITIES)}`,
      )
    }
  }
  const capabilities = new Set<Capability>(tool.capabilities ?? [])
  const dialects = new Map<string, RegisteredDialect>()
  for (const [kind, dialect] of Object.entries(tool.dialects ?? {})) {
    const input = dialect.input && compileSchema(dialect.input, { side: 'input' })
    for (const name of [dialect.name, ...(dialect.aliases ?? [])]) {
      assertToolName(name)
      dialects.set(name, { kind, dialect, input })
    }
  }
  const wire = toWireName(tool.name)
  const group = tool.group ?? groupOf(tool.name)
  const names = [...new Set([tool.name, wire, ...dialects.keys()])]
  return {
    tool,
    origin,
    wire,
    names,
    ruleNames: ruleNames(names, capabilities),
    group,
    groups: groupsOf({ name: tool.name, names, group }),
    kind: tool.kind ?? (tool.name.startsWith('core/') && tool.override !== true ? 'core' : 'function'),
    ...rightsOf(capabilities, origin),
    callers: tool.callers ?? (capabilities.has('danger:destructive') ? ['direct'] : ['direct', 'script']),
    input: compileSchema(tool.input, { side: 'input' }),
    output: tool.output && compileSchema(tool.output, { side: 'output' }),
    dialects,
  }
}

/** A built-in tool gives way only to one that means it, and what it may do is then the least that its place is judged by. */
export function replacing(entry: RegisteredTool, present: RegisteredTool): RegisteredTool {
  if (entry.tool === present.tool || (present.floor === undefined && present.origin !== 'builtin')) return entry
  if (entry.origin !== 'owner' && entry.tool.override !== true) throw needsOverride(entry)
  const floor = present.floor ?? present.capabilityList
  const capabilities = new Set([...entry.capabilities, ...floor])
  return { ...entry, floor, ...rightsOf(capabilities, entry.origin), ruleNames: ruleNames(entry.names, capabilities) }
}

/** What follows from the capabilities, and from who wrote the tool. */
function rightsOf(capabilities: ReadonlySet<Capability>, origin: Origin) {
  const all = [...capabilities]
  const hasEffects = all.some((capability) => capability !== 'read:fs')
  // Built-in tools act through their handles alone, which record what they change; any other one may use `node:fs` or a client of its own.
  const isOurs = origin === 'builtin' || origin === 'owner'
  return {
    capabilities,
    capabilityList: all,
    hasEffects,
    usesFeature: all.some((capability) => FEATURE_CAPABILITIES.has(capability)),
    recordsFirst: isOurs ? all.some((capability) => !isGuarded(capability, capabilities)) : hasEffects,
  }
}

/** The same tool with one name of its dialects less. */
export function withoutName(entry: RegisteredTool, name: string): RegisteredTool {
  const dialects = new Map([...entry.dialects].filter(([own]) => own !== name))
  const names = entry.names.filter((own) => own !== name)
  return {
    ...entry,
    dialects,
    names,
    ruleNames: ruleNames(names, entry.capabilities),
    groups: groupsOf({ name: entry.tool.name, names, group: entry.group }),
  }
}

function ruleNames(names: readonly string[], capabilities: ReadonlySet<string>): readonly string[] {
  return names.filter((name) => !capabilities.has(name))
}

/** Destroying files is a change to files; the sandbox does not see anything else that is destroyed. */
function isGuarded(capability: Capability, all: ReadonlySet<Capability>): boolean {
  return GUARDED.has(capability) || (capability === 'danger:destructive' && all.has('write:fs'))
}

function needsOverride({ tool }: RegisteredTool): ToolError {
  return new ToolError('CONFIG_INVALID', `${tool.name} is the name of a built-in tool.`, {
    hint: 'Give your tool another name; to take the place of the built-in one, define it with override: true.',
  })
}

function invalid(tool: AnyTool, what: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The tool ${tool.name} ${what}`, {
    hint: 'See docs/reference/contract.md for what a tool needs.',
  })
}
