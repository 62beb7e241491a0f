import type { VisibleTool } from '../../core/index.ts'

/** TypeScript declarations of the tools, for the editor. */
export function toolDeclarations(tools: readonly VisibleTool[]): string {
  return tools.map(({ tool }) => `// ${tool}`).join('\n')
}
