import { existsSync } from 'node:fs'
import path from 'node:path'
import { type ConfigDocument, type Sandbox, sourceOf } from '@tool-hub/core'
import { resolvePath } from '@tool-hub/sandbox/system'
import type { PolicyTools } from './check-config.ts'

/** A policy.yaml and where it stands. */
export interface PolicyByTool {
  readonly document: ConfigDocument
  readonly tools: PolicyTools
}

/** What the paths of a policy.yaml add to the sandbox, and those that it still does not contain. */
interface AllowedRoots {
  readonly sandbox: Pick<Sandbox, 'root' | 'roots'>
  readonly warnings: readonly string[]
}

const WRITES = /write|edit|patch|move|copy|delete|mkdir/i
const GLOB = /[*?[\]{}]/

/**
 * A policy.yaml knows no sandbox: the folders that its `allowed_paths` name are what its tools are meant to see. So they
 * become roots, if the owner names none. The folder of the file itself becomes the one that relative paths start from, but
 * only where a default closes it to tools that the file does not name.
 */
export function allowedRoots(policies: readonly PolicyByTool[], sandbox: Sandbox = {}): AllowedRoots {
  const written = policies.flatMap(pathsOf)
  if (written.length === 0) return { sandbox: {}, warnings: [] }
  const isOwners = sandbox.root !== undefined || sandbox.workspaces !== undefined || sandbox.roots !== undefined
  if (isOwners) {
    const roots = [sandbox.root, ...(sandbox.roots ?? []).map((root) => root.path)].filter((each) => each !== undefined)
    const outside = written.filter(({ folder }) => !roots.some((root) => overlaps(root, folder)))
    return {
      sandbox: {},
      warnings: outside.map((each) => warningOf(each, 'lies outside of sandbox.root and sandbox.roots')),
    }
  }
  const root = written.find(({ folder, base, isClosed }) => isClosed && folder === base)?.folder
  const missing = written.filter(({ folder }) => !existsSync(folder))
  const others = written.filter((each) => each.folder !== root && !missing.includes(each))
  const folders = new Set(others.map(({ folder }) => folder))
  const roots = [...folders].map((folder) => {
    const mode = others.some((each) => each.folder === folder && each.writes) ? ('write' as const) : ('read' as const)
    return { path: folder, mode }
  })
  return {
    sandbox: { ...(root !== undefined && { root }), ...(roots.length > 0 && { roots }) },
    warnings: missing.map((each) => warningOf(each, 'does not exist, so nothing can be read there')),
  }
}

interface AllowedPath {
  readonly text: string
  /** The folder itself, or the one that a pattern starts in. */
  readonly folder: string
  /** Of the policy.yaml. */
  readonly base: string
  readonly writes: boolean
  /** Tools that the policy.yaml does not name are asked or denied. */
  readonly isClosed: boolean
  readonly source: string
}

function pathsOf({ document, tools = {} }: PolicyByTool): AllowedPath[] {
  const { default: standard, ...entries } = tools as Record<string, unknown>
  const base = path.dirname(document.file)
  return Object.entries(entries).flatMap(([tool, entry]) => {
    const { allowed_paths: paths = [] } = (entry as { constraints?: { allowed_paths?: string[] } }).constraints ?? {}
    return paths.map((text, index) => {
      const { file, line } = sourceOf(document, ['tools', tool, 'constraints', 'allowed_paths', index])
      return {
        text,
        folder: resolvePath(base, staticPart(text)),
        base,
        writes: WRITES.test(tool),
        isClosed: standard === 'ask' || standard === 'deny',
        source: line === undefined ? file : `${file}:${line}`,
      }
    })
  })
}

/** `src/*.ts` starts in `src`. */
function staticPart(pattern: string): string {
  const glob = pattern.search(GLOB)
  if (glob === -1) return pattern
  return pattern.slice(0, pattern.lastIndexOf('/', glob) + 1) || '.'
}

function overlaps(root: string, folder: string): boolean {
  return `${folder}/`.startsWith(root.endsWith('/') ? root : `${root}/`)
}

function warningOf({ source, text }: AllowedPath, problem: string): string {
  return `${source} allowed_paths: ${JSON.stringify(text)} ${problem}.`
}
