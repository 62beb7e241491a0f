import { readBuiltFile } from '../../system/index.ts'
import type { CanvasKind } from './types.ts'

const NAMES: Partial<Record<CanvasKind, string>> = {
  markdown: 'markdown.js',
  mermaid: 'mermaid.js',
  'vega-lite': 'vega-lite.js',
}

/** The scripts that there are. */
export const SCRIPT_NAMES: readonly string[] = Object.values(NAMES)

/** The name of the script that draws a kind; a page and a form need none. */
export function scriptOf(kind: CanvasKind): string | undefined {
  return NAMES[kind]
}

/** The text of such a script; undefined where nothing was built. */
export async function readScript(name: string): Promise<string | undefined> {
  const bytes = await readBuiltFile(`canvas-frame/${name}`)
  return bytes && Buffer.from(bytes).toString('utf8')
}
