import { join, relative } from 'node:path/posix'
import { CAPABILITIES, type SourcedRule } from '@tool-hub/core'
import type { PolicyWarning } from './check-policy.ts'
import { describeSource, effectOf, subjectOf } from './describe.ts'
import { literalOf } from './match-target.ts'
import { TARGET_KINDS } from './target.ts'

/**
 * A path that starts at the folder of the rules although tools start at `sandbox.root`, which is below that folder: no file
 * that tools can use is there. Absolute paths are not checked, because they may protect what nobody grants now.
 */
export function checkPathRule(
  { rule, source, base }: SourcedRule,
  [root, ...others]: readonly string[] = [],
): PolicyWarning[] {
  const isAboutPaths = CAPABILITIES.some((name) => name === subjectOf(rule) && TARGET_KINDS[name] === 'path')
  if (!isAboutPaths || root === undefined || !isBelow(root, base)) return []
  return [rule.on ?? []].flat().flatMap((pattern) => {
    if (/^(?:[/~]|\*\*(?:\/|$))/.test(pattern) || [root, ...others].some((each) => couldBeBelow(pattern, base, each)))
      return []
    const plain = pattern.replace(/^(?:\.\/)+/, '')
    return {
      level: 'warning',
      message: `${effectOf(rule)} ${subjectOf(rule)} on ${pattern} matches nothing below sandbox.root: it means ${join(base, plain)}, and the root is ${root}.`,
      source: describeSource(source),
      hint: `Did you mean ./${relative(base, join(root, plain))}? Paths in rules start at ${base}.`,
    }
  })
}

/** The targets of `remote` have two parts, and a `*` covers one: `client:*` matches none of them. */
export function checkRemoteRule({ rule, source }: SourcedRule): PolicyWarning[] {
  if (subjectOf(rule) !== 'remote') return []
  return [rule.on ?? []].flat().flatMap((pattern) => {
    // A tool of your own may have other targets, and what varies may cover a slash.
    if (!/^(?:client|mcp):[^/[{\\]*$/.test(pattern) || pattern.includes('**')) return []
    return {
      level: 'warning',
      message: `${effectOf(rule)} remote on ${pattern} matches no tool: the targets are client:NAME/TOOL and mcp:SERVER/TOOL, and * does not cover the slash.`,
      source: describeSource(source),
      hint: `Did you mean ${pattern}/*?`,
    }
  })
}

/** Whether the plain folders that a pattern begins with are on the way to a folder, or in it. In doubt they are. */
function couldBeBelow(pattern: string, base: string, folder: string): boolean {
  const wanted = foldersOf(folder)
  for (const [at, segment] of foldersOf(join(base, pattern)).entries()) {
    const other = wanted[at]
    if (other === undefined || literalOf(segment) === undefined) return true
    if (literalOf(segment) !== other) return false
  }
  return true
}

function foldersOf(path: string): string[] {
  return path.split('/').filter(Boolean)
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? folder : `${folder}/`)
}
