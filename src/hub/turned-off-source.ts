import { type AnyTool, type ToolError, type ToolSource, toWireName } from '../core/index.ts'

/** A source in place of built-in tools that the owner has turned off: it brings none, and tells whoever calls one why. */
export function turnedOffSource(name: string, tools: readonly AnyTool[], why: () => ToolError): ToolSource {
  return {
    name,
    start(host) {
      for (const tool of tools) {
        const dialects = Object.values(tool.dialects ?? {}).flatMap((dialect) => [
          dialect.name,
          ...(dialect.aliases ?? []),
        ])
        for (const each of [tool.name, toWireName(tool.name), ...dialects]) host.expect(each, Promise.resolve(), why)
      }
    },
  }
}
