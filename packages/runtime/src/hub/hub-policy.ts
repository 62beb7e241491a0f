import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { HubOptions, Rule, Sandbox, SourcedRule, ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import {
  checkPolicy,
  compilePolicy,
  DEFAULT_POLICY,
  doubtHiddenPartners,
  doubtNarrowGroup,
  type Policy,
  type PolicyLayers,
  type PolicyWarning,
  unknownVisibilityEntries,
} from '@tool-hub/policy'
import { type HostPatterns, matchHost, parseHosts } from '@tool-hub/sandbox/network'
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
  policy,
  requests = [],
  sandbox = {},
}: Pick<HubOptions, 'policy' | 'requests' | 'sandbox'>): PolicyLayers {
  const defaults = sandbox.network?.includes('*')
    ? [...DEFAULT_POLICY.defaults, ASK_BEFORE_SENDING]
    : DEFAULT_POLICY.defaults
  return {
    ...DEFAULT_POLICY,
    defaults,
    owner: (policy ?? []).map(sourced),
    requests,
    home: realHome(),
    place: placeOf(policy),
  }
}

/** Where the owner adds rules: options read from a config always have a list, and its rules know their file. */
function placeOf(policy: Rules | undefined): string | undefined {
  const isInCode = policy === undefined || (policy.length > 0 && !policy.some((rule) => 'rule' in rule))
  return isInCode ? 'the policy option of createToolHub' : undefined
}

/** Sending is allowed by default because the owner has named every host. With `*` no host was named, so sending asks. */
const ASK_BEFORE_SENDING: SourcedRule = {
  rule: { ask: 'send', reason: 'sandbox.network is open to every host, so no host was chosen to send data to.' },
  source: { file: 'sandbox.network' },
  base: '/',
}

/** Adds the source of a rule. A rule given in code is identified by its index. */
export function sourced(rule: Rule | SourcedRule, index: number): SourcedRule {
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
  return realPath(homedir())
}

/** The path itself if it does not exist: then it holds nothing to protect, and its name does no harm in a pattern. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

const SHOW_BOTH = 'Name their group, such as group:code or group:runtime, or both tools.'

const NOTHING_VISIBLE: PolicyWarning = {
  level: 'error',
  message: 'No tool is visible: tools.profile, tools.allow and tools.deny together hide all of them.',
  source: 'tools',
  hint: 'Widen tools.allow or tools.profile; tool-hub list --hidden shows what hides each tool.',
}

/** Returns warnings about the policy, the tool lists and the sandbox of a hub, and what could not be started. */
export function checkHub(runtime: HubRuntime, layers: PolicyLayers): PolicyWarning[] {
  const { plugins, sources } = runtime
  return [
    ...plugins.failed.map(({ name, error }) => failureWarning(`plugin ${name}`, error)),
    ...sources.failed.map(({ name, error }) => failureWarning(`source ${name}`, error)),
    ...sources.problems.map(({ tools, error }) => failureWarning(`tools ${tools}`, error)),
    ...checkRules(runtime, layers),
  ]
}

/** Returns warnings about the policy, the tool lists and the sandbox; with `onlyCertain`, none about tools that may still come. */
export function checkRules(
  runtime: HubRuntime,
  layers: PolicyLayers,
  { onlyCertain = false }: { readonly onlyCertain?: boolean } = {},
): PolicyWarning[] {
  const { registry, catalog, sources, visibility, sandboxOptions } = runtime
  const tools = registry.list()
  const arriving = sources.prefixes()
  const known = {
    names: tools.flatMap(({ names }) => names),
    groups: [...new Set([...tools.flatMap(({ groups }) => groups), ...groupsOfArriving(arriving)])],
    arriving,
    onlyCertain,
    roots: rootsOf(sandboxOptions),
    argumentsOf: (name: string) => argumentNames(registry.find(name)?.entry),
  }
  const lists = unknownVisibilityEntries(visibility, known)
  const narrow = doubtNarrowGroup(visibility.deny ?? [])
  const partners = doubtHiddenPartners((name) => {
    const found = registry.find(name)
    return found && catalog.sees(found.entry).visible
  })
  return [
    ...checkPolicies(runtime, layers, known),
    ...checkSandbox(sandboxOptions, layers.owner ?? []),
    ...lists.map(({ list, level, message }) => ({ level, message, source: `tools.${list}` })),
    ...(narrow === undefined ? [] : [{ level: 'warning' as const, message: narrow, source: 'tools.deny' }]),
    ...partners.map((message) => ({ level: 'warning' as const, message, source: 'tools', hint: SHOW_BOTH })),
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

/** The names of a tool's arguments; `undefined` if its schema does not list them all, or has no JSON Schema form. */
function argumentNames(entry: RegisteredTool | undefined): readonly string[] | undefined {
  try {
    const { properties } = entry?.input.jsonSchema() ?? {}
    return isPlainObject(properties) ? Object.keys(properties) : undefined
  } catch {
    // Reported to those who list or call the tool; the other rules are checked nevertheless.
    return undefined
  }
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

/** The real paths of the roots, `sandbox.root` first; none if each run has its own folder. */
function rootsOf({ root, roots = [] }: Sandbox): string[] {
  return root === undefined ? [] : [root, ...roots.map(({ path }) => path)].map(realPath)
}

function checkRoots({ root, roots = [] }: Sandbox): PolicyWarning[] {
  return [...(root === undefined ? [] : [root]), ...roots.map(({ path }) => path)]
    .filter((path) => !isFolder(path))
    .map((path) => ({
      level: 'error',
      message: `The sandbox root ${path} is not a folder, so tools cannot use any file.`,
      source: 'sandbox',
      hint: 'Create the folder or set another one.',
    }))
}

/** False also for a path that cannot be opened: a link to itself, a folder of another user, a name that is too long. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
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
