import { statSync } from 'node:fs'
import type { Sandbox, SourcedRule } from '../core/index.ts'
import type { PolicyWarning } from '../policy/index.ts'
import { type HostPatterns, matchHost, parseHosts } from '../sandbox/network/index.ts'

/** Where the owner's rules and the sandbox contradict each other: a rule allows what a guard refuses. */
export function checkSandbox(sandbox: Sandbox, rules: readonly SourcedRule[]): PolicyWarning[] {
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
