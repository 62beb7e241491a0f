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
  invalidPlace,
  labelsOfPlace,
  ToolError,
  type ToolKind,
  toWireName,
} from '@tool-hub/core'
import { type CompiledSchema, compileSchema } from '@tool-hub/core/schema'
import { groupsOf } from '@tool-hub/policy'

const FEATURE_CAPABILITIES: ReadonlySet<Capability> = new Set(Object.values(CAPABILITY_OF_FEATURE))

/** Where a tool comes from; a later origin replaces an earlier one of the same name. Agents never see tools of `owner`. */
export type Origin = 'builtin' | 'plugin' | 'caller' | 'owner'

/** A tool with everything that is derived from it at registration. */
export interface RegisteredTool {
  readonly tool: AnyTool
  readonly origin: Origin
  readonly wire: string
  /** Canonical, wire and dialect names, as tool lists may use them. */
  readonly names: readonly string[]
  /** The names that rules may use: a name that equals a capability means the capability. */
  readonly ruleNames: readonly string[]
  readonly group: string
  readonly groups: readonly string[]
  readonly kind: ToolKind
  readonly capabilities: ReadonlySet<Capability>
  /** The capabilities as a list, for policy. */
  readonly capabilityList: readonly Capability[]
  /** The capabilities of the built-in tool that it replaces. */
  readonly floor?: readonly Capability[]
  /** Whether the tool may have side effects, so that repeating a call matters. */
  readonly hasEffects: boolean
  /** Whether the tool may have side effects outside the sandbox, so that its intent is recorded before it runs. */
  readonly recordsFirst: boolean
  /** Whether the tool uses a feature, which is created before the tool runs. */
  readonly usesFeature: boolean
  readonly callers: readonly CallerKind[]
  readonly input: CompiledSchema
  readonly output: CompiledSchema | undefined
  readonly dialects: ReadonlyMap<string, RegisteredDialect>
  /** The labels of the workers that execute its calls; `undefined`: the process of the run does. */
  readonly where: readonly string[] | undefined
}

/** A dialect with its compiled schema. */
export interface RegisteredDialect {
  readonly kind: string
  readonly dialect: Dialect
  readonly input: CompiledSchema | undefined
}

/** Checks a tool and derives what calls need. Later changes to the tool object have no effect. Throws CONFIG_INVALID. */
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
  if (tool.texts !== undefined && !isListOfNames(tool.texts))
    throw invalid(tool, 'needs a list of argument names in texts.')
  if (tool.evidence !== undefined && !isListOfNames(tool.evidence))
    throw invalid(tool, 'needs a list of argument names in evidence.')
  const where = tool.where === undefined ? undefined : labelsOfPlace(tool.where)
  if (tool.where !== undefined && !where) throw invalidPlace(`where of the tool ${tool.name}`, tool.where)
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
    where,
  }
}

/**
 * Replaces a built-in tool, only with `override: true`. Policy then always checks the capabilities of the built-in tool
 * too.
 */
export function replacing(entry: RegisteredTool, present: RegisteredTool): RegisteredTool {
  if (entry.tool === present.tool || (present.floor === undefined && present.origin !== 'builtin')) return entry
  if (entry.origin !== 'owner' && entry.tool.override !== true) throw needsOverride(entry)
  const floor = present.floor ?? present.capabilityList
  const capabilities = new Set([...entry.capabilities, ...floor])
  return { ...entry, floor, ...rightsOf(capabilities, entry.origin), ruleNames: ruleNames(entry.names, capabilities) }
}

/** Derives what follows from the capabilities and the origin of a tool. */
function rightsOf(capabilities: ReadonlySet<Capability>, origin: Origin) {
  const all = [...capabilities]
  const hasEffects = all.some((capability) => capability !== 'read:fs')
  // Built-in tools act only through their handles, which record changes; other tools may use `node:fs` or their own client.
  const isOurs = origin === 'builtin' || origin === 'owner'
  return {
    capabilities,
    capabilityList: all,
    hasEffects,
    usesFeature: all.some((capability) => FEATURE_CAPABILITIES.has(capability)),
    recordsFirst: isOurs ? all.some((capability) => !isGuarded(capability, capabilities)) : hasEffects,
  }
}

/** Returns the tool without one of its dialect names. */
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

/** Destroying files is a file change, which the sandbox guards; it does not guard anything else that a tool destroys. */
function isGuarded(capability: Capability, all: ReadonlySet<Capability>): boolean {
  return GUARDED.has(capability) || (capability === 'danger:destructive' && all.has('write:fs'))
}

function needsOverride({ tool }: RegisteredTool): ToolError {
  return new ToolError('CONFIG_INVALID', `${tool.name} is the name of a built-in tool.`, {
    hint: 'Give your tool another name, or define it with override: true to replace the built-in tool.',
  })
}

function invalid(tool: AnyTool, what: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The tool ${tool.name} ${what}`, {
    hint: 'See docs/reference/contract.md for what a tool needs.',
  })
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
