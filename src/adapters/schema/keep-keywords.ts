import type { JsonObject } from '../../core/schema/index.ts'
import type { StrictRules } from './strict-rules.ts'
import { tellInDescription } from './tell-in-description.ts'

/** Not all engines that have patterns have these: looking around, back references, classes of Unicode, word ends. */
const RICH_PATTERN = /\(\?[=!<]|\\[1-9bBpPkuxc]/

/** A rewritten schema with those of its old keywords that are understood; the others become words, and are named. */
export function keepKeywords(
  schema: JsonObject,
  old: JsonObject,
  handled: ReadonlySet<string>,
  rules: StrictRules,
): { readonly schema: JsonObject; readonly dropped: readonly string[] } {
  const kept: JsonObject = { ...schema }
  const dropped: JsonObject = {}
  for (const [keyword, value] of Object.entries(old)) {
    if (handled.has(keyword) || keyword === '$defs' || keyword === 'definitions') continue
    if (isUnderstood(keyword, value, rules)) kept[keyword] = value
    else dropped[keyword] = value
  }
  return { schema: tellInDescription(kept, dropped), dropped: Object.keys(dropped) }
}

function isUnderstood(keyword: string, value: unknown, rules: StrictRules): boolean {
  if (keyword === 'format') return rules.formats.has(String(value))
  if (keyword === 'pattern') return rules.hasPatterns && !RICH_PATTERN.test(String(value))
  if (keyword === 'minItems') return Number(value) <= rules.maxMinItems
  return rules.keywords.has(keyword)
}
