import { posix } from 'node:path'
import { ToolError } from '../../../core/index.ts'
import { quote } from '../quote.ts'
import type { PatchSection } from './patch.ts'

/** Refuses a patch that names a file twice: what it should hold afterwards would depend on the order. */
export function checkPaths(sections: readonly PatchSection[]): void {
  const seen = new Set<string>()
  for (const path of sections.flatMap(pathsOf)) {
    const plain = posix.normalize(path)
    if (seen.has(plain)) {
      throw new ToolError('INPUT_SCHEMA_INVALID', `The patch names ${quote(path)} twice.`, {
        fix: { key: 'input', hint: 'Put all changes of a file into one section.' },
      })
    }
    seen.add(plain)
  }
}

/** The files that a section reads, changes or makes. */
export function pathsOf(section: PatchSection): string[] {
  return section.type === 'update' && section.to !== undefined ? [section.path, section.to] : [section.path]
}
