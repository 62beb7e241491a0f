import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { HubOptions, Rule, Sandbox, SourcedRule, ToolError } from '../core/index.ts'
import { isPlainObject } from '../lib/index.ts'
import {
  checkPolicy,
  compilePolicy,
  DEFAULT_POLICY,
  doubtNarrowGroup,
  type Policy,
  type PolicyLayers,
  type PolicyWarning,
  unknownVisibilityEntries,
} from '../policy/index.ts'
import { type HostPatterns, matchHost, parseHosts } from '../sandbox/network/index.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import type { HubRuntime } from './runtime.ts'

type Rules = readonly (Rule | SourcedRule)[]

/** The current policy of a hub and its shadow policy, alone and combined with the rules of a principal. */
export class PolicyHistory {
  #layers: PolicyLayers
  #policy: Policy
  #shadowRules: readonly SourcedRule[] | undefined
  #shadow: Policy | undefined

  constructor(layers: PolicyLayers, shadow?: Rules) {
    this.#layers = layers
    this.#policy = compilePolicy(layers)
    this.replaceShadow(shadow)
  }

  get layers(): PolicyLayers {
    return this.#layers
  }

  get policy(): Policy {
    return this.#policy
  }

  get shadowRules(): readonly SourcedRule[] | undefined {
    return this.#shadowRules
  }

  get shadow(): Policy | undefined {
    return this.#shadow
  }

  /**
   * Replaces the owner's rules. Throws if they cannot be compiled; the current rules then stay in force. Returns whether
   * the rules have changed.
   */
  replace(rules: Rules): boolean {
    const before = this.#layers.owner
    const layers = { ...this.#layers, owner: rules.map(sourced) }
    this.#policy = compilePolicy(layers)
    this.#layers = layers
    return !isDeepStrictEqual(before, layers.owner)
  }

  /** Replaces the shadow policy: other rules of the owner with the same shipped policy. Throws like `replace`. */
  replaceShadow(rules: Rules | undefined): boolean {
    const before = this.#shadowRules
    const owner = rules?.map(shadowed)
    this.#shadow = owner && compilePolicy({ ...this.#layers, owner })
    this.#shadowRules = owner
    return !isDeepStrictEqual(before, owner)
  }

  /** Returns a getter of the policy with these rules in addition to the owner's; it follows every `replace`. */
  beside(rules: Rules): () => Policy {
    if (rules.length === 0) return () => this.#policy
    const own = rules.map(sourced)
    const beside = following(
      () => this.#policy,
      () => this.#withOwn(this.#layers.owner, own),
    )
    // Compiled now, so that a broken rule is reported here and not by the first call.
    beside()
    return beside
  }

  /** The same with the shadow policy; the getter is for hubs that have one now. */
  besideShadow(rules: Rules): () => Policy {
    if (rules.length === 0) return () => this.#shadow!
    const own = rules.map(sourced)
    return following(
      () => this.#shadow,
      () => this.#withOwn(this.#shadowRules, own),
    )
  }

  #withOwn(owner: readonly SourcedRule[] = [], own: readonly SourcedRule[]): Policy {
    return compilePolicy({ ...this.#layers, owner: [...owner, ...own] })
  }
}

/** Returns a getter of what is compiled from the current policy; it is compiled again when that was replaced. */
function following(current: () => Policy | undefined, compile: () => Policy): () => Policy {
  let from: Policy | undefined
  let compiled: Policy | undefined
  return () => {
    const now = current()
    if (compiled !== undefined && from === now) return compiled
    compiled = compile()
    from = now
    return compiled
  }
}

/** Returns the effective policy before it is compiled: what is always denied, the owner's rules, and the defaults. */
export function policyLayers({
  policy = [],
  requests = [],
  sandbox = {},
}: Pick<HubOptions, 'policy' | 'requests' | 'sandbox'>): PolicyLayers {
  const defaults = sandbox.network?.includes('*')
    ? [...DEFAULT_POLICY.defaults, ASK_BEFORE_SENDING]
    : DEFAULT_POLICY.defaults
  return { ...DEFAULT_POLICY, defaults, owner: policy.map(sourced), requests, home: realHome() }
}

/** Sending is allowed by default because the owner has named every host. With `*` no host was named, so sending asks. */
const ASK_BEFORE_SENDING: SourcedRule = {
  rule: { ask: 'send', reason: 'sandbox.network is open to every host, so no host was chosen to send data to.' },
  source: { file: 'sandbox.network' },
  base: '/',
}

/** Adds the source of a rule. A rule given in code is identified by its index. */
function sourced(rule: Rule | SourcedRule, index: number): SourcedRule {
  if ('rule' in rule) return rule
  return { rule, source: { file: `policy[${index}]` }, base: process.cwd() }
}

/** A rule of a shadow policy given in code. */
function shadowed(rule: Rule | SourcedRule, index: number): SourcedRule {
  if ('rule' in rule) return rule
  return { ...sourced(rule, index), source: { file: `shadowPolicy[${index}]` } }
}

/** Targets are real paths, so `~` must expand to a real path too. */
function realHome(): string {
  try {
    return realpathSync(homedir())
  } catch {
    // A home folder that does not exist holds nothing to protect; its name does no harm in a pattern.
    return homedir()
  }
}

const NOTHING_VISIBLE: PolicyWarning = {
  level: 'error',
  message: 'No tool is visible: tools.profile, tools.allow and tools.deny together hide all of them.',
  source: 'tools',
  hint: 'Widen tools.allow or tools.profile; tool-hub list --hidden shows what hides each tool.',
}

/** Returns warnings about the policy, the tool lists and the sandbox of a hub. */
export function checkHub(runtime: HubRuntime, layers: PolicyLayers): PolicyWarning[] {
  const { registry, catalog, plugins, sources, visibility, sandboxOptions } = runtime
  const tools = registry.list()
  const arriving = sources.prefixes()
  const known = {
    names: tools.flatMap(({ names }) => names),
    groups: [...new Set([...tools.flatMap(({ groups }) => groups), ...groupsOfArriving(arriving)])],
    arriving,
    argumentsOf: (name: string) => argumentNames(registry.find(name)?.entry),
  }
  const lists = unknownVisibilityEntries(visibility, known)
  const narrow = doubtNarrowGroup(visibility.deny ?? [])
  return [
    ...plugins.failed.map(({ name, error }) => failureWarning(`plugin ${name}`, error)),
    ...sources.failed.map(({ name, error }) => failureWarning(`source ${name}`, error)),
    ...checkPolicies(runtime, layers, known),
    ...checkSandbox(sandboxOptions, layers.owner ?? []),
    ...lists.map(({ list, level, message }) => ({ level, message, source: `tools.${list}` })),
    ...(narrow === undefined ? [] : [{ level: 'warning' as const, message: narrow, source: 'tools.deny' }]),
    ...(arriving.length > 0 || tools.some((tool) => catalog.sees(tool).visible) ? [] : [NOTHING_VISIBLE]),
  ]
}

/** Warnings about the policy, and those about the shadow policy that it does not share. */
function checkPolicies(
  { rules: { shadowRules } }: HubRuntime,
  layers: PolicyLayers,
  known: Parameters<typeof checkPolicy>[1],
): PolicyWarning[] {
  const own = checkPolicy(layers, known)
  if (shadowRules === undefined) return own
  const keys = new Set(own.map(({ source, message }) => `${source} ${message}`))
  const ofShadow = checkPolicy({ ...layers, owner: shadowRules }, known)
  return [...own, ...ofShadow.filter(({ source, message }) => !keys.has(`${source} ${message}`))]
}

function failureWarning(source: string, { message, fix }: ToolError): PolicyWarning {
  return { level: 'error', message, source, hint: fix.hint }
}

/** The names of a tool's arguments; `undefined` if its schema does not list them all. */
function argumentNames(entry: RegisteredTool | undefined): readonly string[] | undefined {
  const { properties } = entry?.input.jsonSchema() ?? {}
  return isPlainObject(properties) ? Object.keys(properties) : undefined
}

/** The groups of MCP servers that have not connected yet. */
function groupsOfArriving(prefixes: readonly string[]): string[] {
  return prefixes.some((prefix) => prefix.startsWith('mcp/')) ? ['group:mcp'] : []
}

/** Returns warnings for rules of the owner that allow what the sandbox refuses. */
function checkSandbox(sandbox: Sandbox, rules: readonly SourcedRule[]): PolicyWarning[] {
  const hosts = parseHosts(sandbox.network ?? [])
  return [...checkRoots(sandbox), ...rules.flatMap((rule) => checkHosts(hosts, rule))]
}

function checkRoots({ root, roots = [] }: Sandbox): PolicyWarning[] {
  return [...(root === undefined ? [] : [root]), ...roots.map(({ path }) => path)]
    .filter((path) => !statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => ({
      level: 'error',
      message: `The sandbox root ${path} is not a folder, so tools cannot use any file.`,
      source: 'sandbox',
      hint: 'Create the folder or set another one.',
    }))
}

function checkHosts(allowed: HostPatterns, { rule, source }: SourcedRule): PolicyWarning[] {
  if (rule.allow !== 'network' || rule.on === undefined) return []
  return [rule.on].flat().flatMap((pattern) => {
    const host = hostOf(pattern)
    if (host === undefined || matchHost(host, allowed)) return []
    return {
      level: 'warning' as const,
      message: `allow network on ${pattern} has no effect: sandbox.network does not include ${host}.`,
      source: source.line === undefined ? source.file : `${source.file}:${source.line}`,
      hint: `Add ${host} to sandbox.network.`,
    }
  })
}

/** Returns the host that a pattern names, or `undefined` if the pattern matches several hosts. */
function hostOf(pattern: string): string | undefined {
  const host = pattern.replace(/^[a-z*]+:\/\//, '').split(/[/:]/, 1)[0]!
  return /^[a-z0-9.-]+$/i.test(host) ? host.toLowerCase() : undefined
}
