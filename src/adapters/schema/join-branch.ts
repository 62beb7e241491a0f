import type { JsonObject } from '../../core/schema/index.ts'
import { mergeObjects } from './merge-objects.ts'
import { typesOf } from './schema-types.ts'
import { isSchemaObject } from './subschemas.ts'

/** One possibility of a union together with what stands beside the union; undefined when they cannot be one schema. */
export function joinBranch(base: JsonObject, branch: unknown, root: JsonObject): unknown {
  const keywords = Object.keys(base)
  if (keywords.length === 0) return branch
  if (!isSchemaObject(branch)) return branch === true ? base : undefined
  const isOnlyType = keywords.length === 1 && keywords[0] === 'type'
  if (isOnlyType && JSON.stringify(typesOf(branch)) === JSON.stringify(typesOf(base))) return branch
  if (typesOf(base).includes('object')) return mergeObjects([base, branch], root)
  const isClear = Object.keys(branch).every((keyword) => !(keyword in base)) && branch.$ref === undefined
  return isClear ? { ...base, ...branch } : undefined
}
