import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Rule, type Sandbox, type SourcedRule, ToolError, type Visibility } from '@tool-hub/core'
import { escapeText, isPlainObject } from '@tool-hub/core/lib'
import {
  checkPolicy,
  describeWarning,
  doubtHiddenPartners,
  doubtNarrowGroup,
  type PolicyLayers,
  type PolicyWarning,
  unknownVisibilityEntries,
} from '@tool-hub/policy'
import { type HostPatterns, matchHost, parseHosts } from '@tool-hub/sandbox/network'
import { realIfThere } from '@tool-hub/sandbox/system'
import { type PolicyHistory, sourced } from './hub-policy.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import type { Registry } from './pipeline/registry.ts'
import type { ToolCatalog } from './pipeline/tool-catalog.ts'
import type { PluginSetups } from './plugin-setups.ts'
import type { Sources } from './sources.ts'

/** What the rules of a hub are compared with. */
interface CheckedHub {
  readonly rules: PolicyHistory
  readonly registry: Registry
  readonly catalog: ToolCatalog
  readonly sources: Sources
  readonly plugins: PluginSetups
  readonly visibility: Visibility
  readonly sandboxOptions: Sandbox
}

/** The most findings that are reported one by one. */
const MAX_REPORTED = 10

/**
 * Reports what is doubtful about the rules, so that a mistyped rule is noticed although nobody calls `hub.check()`: as
 * warnings after the first call, or, with `strict`, as the error of every call.
 */
export class RuleDoubts {
  readonly #hub: () => CheckedHub
  readonly #isStrict: boolean
  /** Whether there is nothing to report any more. */
  isReported = false
  /** With `strict`, every call waits for it: rejected if the rules have findings, `undefined` if they have none. */
  pending: Promise<void> | undefined

  constructor(hub: () => CheckedHub, { isStrict }: { readonly isStrict: boolean }) {
    this.#hub = hub
    this.#isStrict = isStrict
  }

  /** Begins the check of `strict`, when all plugins and sources of the options were added. */
  start(): void {
    if (this.#isStrict) this.#refuseLater()
  }

  /** Emits the findings as warnings, once, and only those that are certain now. */
  report(): void {
    this.isReported = true
    if (this.#isStrict) return
    // Apart from the call: it does not wait for the check.
    this.#whenStarted().then(
      () => setImmediate(() => warnOf(this.#findings())),
      // Every call fails with the error of the plugin.
      () => {},
    )
  }

  /** Throws, with `strict`, if rules that are about to replace the owner's have findings. */
  test(rules: readonly (Rule | SourcedRule)[]): void {
    if (this.#isStrict) refuse(this.#findings(rules))
    this.isReported = false
  }

  #refuseLater(): void {
    const checking = this.#whenStarted().then(() => {
      refuse(this.#findings())
      if (this.pending === checking) this.pending = undefined
    })
    this.pending = checking
    // The error is not lost: every call waits for this promise and fails with it.
    checking.catch(() => {})
  }

  /** Until then a rule may name a tool that is not there yet. */
  async #whenStarted(): Promise<void> {
    const { plugins, sources } = this.#hub()
    await plugins.pending
    await sources.ready()
  }

  #findings(rules?: readonly (Rule | SourcedRule)[]): readonly PolicyWarning[] {
    const hub = this.#hub()
    const layers = rules ? { ...hub.rules.layers, owner: rules.map(sourced) } : hub.rules.layers
    return checkRules(hub, layers, { onlyCertain: true })
  }
}

function refuse(findings: readonly PolicyWarning[]): void {
  if (findings.length === 0) return
  throw new ToolError(
    'CONFIG_INVALID',
    `The rules are doubtful, and strict refuses that. ${findings.map(describeWarning).join(' ')}`,
    {
      hint: 'Correct the rules: hub.check() returns what is doubtful.',
    },
  )
}

function warnOf(findings: readonly PolicyWarning[]): void {
  const left = findings.length - MAX_REPORTED
  const texts = findings.slice(0, MAX_REPORTED).map(describeWarning)
  // Escaped, because names may come from outside and must not contain terminal sequences.
  for (const text of [...texts, ...(left > 0 ? [`${left} more doubts about the rules: see hub.check().`] : [])])
    process.emitWarning(escapeText(text), 'ToolHubWarning')
}

const SHOW_BOTH = 'Name their group, such as group:code or group:runtime, or both tools.'

const NOTHING_VISIBLE: PolicyWarning = {
  level: 'error',
  message: 'No tool is visible: tools.profile, tools.allow and tools.deny together hide all of them.',
  source: 'tools',
  hint: 'Widen tools.allow or tools.profile; tool-hub list --hidden shows what hides each tool.',
}

/** Returns warnings about the policy, the tool lists and the sandbox of a hub, and what could not be started. */
export function checkHub(hub: CheckedHub, layers: PolicyLayers): PolicyWarning[] {
  const { plugins, sources } = hub
  return [
    ...plugins.failed.map(({ name, error }) => failureWarning(`plugin ${name}`, error)),
    ...sources.failed.map(({ name, error }) => failureWarning(`source ${name}`, error)),
    ...sources.problems.map(({ tools, error }) => failureWarning(`tools ${tools}`, error)),
    ...checkRules(hub, layers),
  ]
}

/** Returns warnings about the policy, the tool lists and the sandbox; with `onlyCertain`, none about tools that may still come. */
export function checkRules(
  hub: CheckedHub,
  layers: PolicyLayers,
  { onlyCertain = false }: { readonly onlyCertain?: boolean } = {},
): PolicyWarning[] {
  const { registry, catalog, sources, visibility, sandboxOptions } = hub
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
    ...checkPolicies(hub, layers, known),
    ...checkSandbox(sandboxOptions, layers.owner ?? []),
    ...lists.map(({ list, level, message }) => ({ level, message, source: `tools.${list}` })),
    ...(narrow === undefined ? [] : [{ level: 'warning' as const, message: narrow, source: 'tools.deny' }]),
    ...partners.map((message) => ({ level: 'warning' as const, message, source: 'tools', hint: SHOW_BOTH })),
    ...(arriving.length > 0 || tools.some((tool) => catalog.sees(tool).visible) ? [] : [NOTHING_VISIBLE]),
  ]
}

/** Warnings about the policy, and those about the shadow policy that it does not share. */
function checkPolicies(
  { rules: { shadowRules } }: CheckedHub,
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
  return root === undefined ? [] : [root, ...roots.map(({ path }) => path)].map((path) => realIfThere(resolve(path)))
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
