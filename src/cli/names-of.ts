import type { AnyTool } from '../define.ts'
import { toWireName } from '../names.ts'

/** Every name a tool answers to: canonical, wire, dialects. */
export function namesOf({ name, dialects = {} }: AnyTool): string[] {
  return [name, toWireName(name), ...Object.values(dialects).map((dialect) => dialect.name)]
}
