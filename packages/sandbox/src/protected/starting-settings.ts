import { isPlainObject } from '@tool-hub/core/lib'

/**
 * Settings of a project because of which agents, editors and shells start programs by themselves, outside of every
 * sandbox. Nobody may write these; the scripts that they start are protected like those of git hooks.
 */
export const STARTING_SETTINGS: readonly string[] = [
  ...['.claude/settings.json', '.claude/settings.local.json', '.mcp.json', '.codex/config.toml', '.codex/hooks.json'],
  ...['.cursor/mcp.json', '.cursor/hooks.json', '.gemini/settings.json', '.kiro/settings/mcp.json', 'opencode.json'],
  ...['.vscode/mcp.json', '.vscode/tasks.json', '.devcontainer/devcontainer.json', '.devcontainer.json', '.gitpod.yml'],
  ...['.envrc', 'mise.toml', '.mise.toml', '.config/mise.toml', '.config/mise/config.toml', '.mise/config.toml'],
]

/** What the text of such a file starts, one command line each; the file as it is if it is not plain JSON. */
export function startedBy(path: string, text: string): string {
  // Other tasks run when somebody starts them.
  if (path.endsWith('tasks.json') && !text.includes('folderOpen')) return ''
  if (!path.endsWith('.json')) return text
  // A task can name a script of package.json.
  const scripts = [...text.matchAll(/"script"\s*:\s*"([\w:.-]+)"/g)].map(([, name]) => `npm run ${name}`)
  try {
    return [...scripts, ...linesIn(JSON.parse(text))].join('\n')
  } catch {
    // With comments: each value on a line of its own.
    return [...scripts, text.replaceAll(/[,{}[\]]/g, '\n')].join('\n')
  }
}

function linesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(linesIn)
  if (!isPlainObject(value)) return []
  // What an agent may run if it wants to is its owner's choice.
  const { permissions: _, command, args, ...others } = value
  const words = [command, args].flat().filter((word) => typeof word === 'string')
  return [...(words.length > 0 ? [words.join(' ')] : []), ...Object.values(others).flatMap(linesIn)]
}
