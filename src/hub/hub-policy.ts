import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import type { HubOptions, Rule, Sandbox, SourcedRule, ToolError } from '../core/index.ts'
import {
  checkPolicy,
  compilePolicy,
  DEFAULT_POLICY,
  doubtNarrowGroup,
  type Policy,
  type PolicyLayers,
  type PolicyWarning,
  type ToolNames,
  type ToolVisibility,
  unknownVisibilityEntries,
} from '../policy/index.ts'
import { type HostPatterns, matchHost, parseHosts } from '../sandbox/network/index.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import type { HubRuntime } from './runtime.ts'

/** The rules of a hub: those that hold now, and what becomes of them with the rules of one principal. */
export class PolicyHistory {
  #layers: PolicyLayers
  #policy: Policy

  constructor(layers: PolicyLayers) {
    this.#layers = layers
    this.#policy = compilePolicy(layers)
  }

  get layers(): PolicyLayers {
    return this.#layers
  }

  get policy(): Policy {
    return this.#policy
  }

  /** Replaces the owner's rules; those that cannot be compiled change nothing. */
  replace(rules: readonly (Rule | SourcedRule)[]): void {
    const layers = { ...this.#layers, owner: rules.map(sourced) }
    this.#policy = compilePolicy(layers)
    this.#layers = layers
  }

  /** The policy with further rules beside the owner's, also after those are replaced. */
  beside(rules: readonly (Rule | SourcedRule)[]): () => Policy {
    if (rules.length === 0) return () => this.#policy
    const own = rules.map(sourced)
    const compile = () => compilePolicy({ ...this.#layers, owner: [...(this.#layers.owner ?? []), ...own] })
    let from = this.#policy
    let compiled = compile()
    return () => {
      if (from === this.#policy) return compiled
      from = this.#policy
      compiled = compile()
      return compiled
    }
  }
}

/** The effective policy, before it is compiled: what is always denied, what the owner says, what holds otherwise. */
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

/** Sending is allowed by default because the owner named every host; with `*` nobody did. */
const ASK_BEFORE_SENDING: SourcedRule = {
  rule: { ask: 'send', reason: 'sandbox.network is open to every host, so no host was chosen to send data to.' },
  source: { file: 'sandbox.network' },
  base: '/',
}

/** A rule with where it comes from; one that was given in code is known by its place. */
function sourced(rule: Rule | SourcedRule, index: number): SourcedRule {
  if ('rule' in rule) return rule
  return { rule, source: { file: `policy[${index}]` }, base: process.cwd() }
}

/** Targets are real paths, so the home that `~` means must be one too. */
function realHome(): string {
  try {
    return realpathSync(homedir())
  } catch {
    // A home that does not exist holds nothing to protect; its name still does no harm in a pattern.
    return homedir()
  }
}

/** A tool is looked at once: its names never change. */
export function rememberSight(look: (tool: ToolNames) => ToolVisibility): (tool: RegisteredTool) => ToolVisibility {
  const seen = new WeakMap<RegisteredTool, ToolVisibility>()
  return (tool) => {
    const known = seen.get(tool)
    if (known) return known
    const sight = look({ name: tool.tool.name, names: tool.names, group: tool.group })
    seen.set(tool, sight)
    return sight
  }
}

const NOTHING_VISIBLE: PolicyWarning = {
  level: 'error',
  message: 'No tool is visible: profile, allow and deny together hide them all.',
  source: 'tools',
  hint: 'Widen tools.allow or tools.profile; tool-hub list --hidden says what hides each tool.',
}

/** Doubts about the policy, the lists of tools and the sandbox of a hub. */
export function checkHub(runtime: HubRuntime, layers: PolicyLayers): PolicyWarning[] {
  const { registry, sees, plugins, sources, visibility, sandboxOptions } = runtime
  const tools = registry.list()
  const arriving = sources.prefixes()
  const known = {
    names: tools.flatMap(({ names }) => names),
    groups: [...new Set([...tools.flatMap(({ groups }) => groups), ...groupsOfArriving(arriving)])],
    arriving,
  }
  const lists = unknownVisibilityEntries(visibility, known)
  const narrow = doubtNarrowGroup(visibility.deny ?? [])
  return [
    ...plugins.failed.map(({ name, error }) => failureWarning(`plugin ${name}`, error)),
    ...sources.failed.map(({ name, error }) => failureWarning(`source ${name}`, error)),
    ...checkPolicy(layers, known),
    ...checkSandbox(sandboxOptions, layers.owner ?? []),
    ...lists.map(({ list, level, message }) => ({ level, message, source: `tools.${list}` })),
    ...(narrow === undefined ? [] : [{ level: 'warning' as const, message: narrow, source: 'tools.deny' }]),
    ...(arriving.length > 0 || tools.some((tool) => sees(tool).visible) ? [] : [NOTHING_VISIBLE]),
  ]
}

function failureWarning(source: string, { message, fix }: ToolError): PolicyWarning {
  return { level: 'error', message, source, hint: fix.hint }
}

/** Tools of MCP servers that have not arrived are in their group all the same. */
function groupsOfArriving(prefixes: readonly string[]): string[] {
  return prefixes.some((prefix) => prefix.startsWith('mcp/')) ? ['group:mcp'] : []
}

/** Where the owner's rules and the sandbox contradict each other: a rule allows what a guard refuses. */
function checkSandbox(sandbox: Sandbox, rules: readonly SourcedRule[]): PolicyWarning[] {
  const hosts = parseHosts(sandbox.network ?? [])
  return [...checkRoots(sandbox), ...rules.flatMap((rule) => checkHosts(hosts, rule))]
}

function checkRoots({ root, roots = [] }: Sandbox): PolicyWarning[] {
  return [...(root === undefined ? [] : [root]), ...roots.map(({ path }) => path)]
    .filter((path) => !statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => ({
      level: 'error',
      message: `The sandbox root ${path} is no folder: tools cannot touch any file.`,
      source: 'sandbox',
      hint: 'Make the folder, or name another one.',
    }))
}

function checkHosts(allowed: HostPatterns, { rule, source }: SourcedRule): PolicyWarning[] {
  if (rule.allow !== 'network' || rule.on === undefined) return []
  return [rule.on].flat().flatMap((pattern) => {
    const host = hostOf(pattern)
    if (host === undefined || matchHost(host, allowed)) return []
    return {
      level: 'warning' as const,
      message: `allow network on ${pattern} has no effect: sandbox.network does not name ${host}.`,
      source: source.line === undefined ? source.file : `${source.file}:${source.line}`,
      hint: `Add ${host} to sandbox.network.`,
    }
  })
}

/** The host that a pattern names; none when it stands for many. */
function hostOf(pattern: string): string | undefined {
  const host = pattern.replace(/^[a-z*]+:\/\//, '').split(/[/:]/, 1)[0]!
  return /^[a-z0-9.-]+$/i.test(host) ? host.toLowerCase() : undefined
}
