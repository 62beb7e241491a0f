import { homedir } from 'node:os'
import { join } from 'node:path'

/** A program that agents run in, and where it keeps the servers it uses. */
export interface AgentProgram {
  readonly name: string
  readonly title: string
  /** The key of its config that holds the servers. */
  readonly key: 'mcpServers' | 'servers'
  /** How it spells the folder of the project. */
  readonly workspace: string
  /** Relative to the project; none where it has only one for the whole user. */
  readonly project?: string
  readonly user: string
  /** Agents write code in it: they know the tools of the coding dialect, and the project gets a config for them. */
  readonly isForCode: boolean
  /** Its entries name the type of the server. */
  readonly isTyped: boolean
  /** What the person has to do then. */
  readonly next: string
  /** The same, where it is for all projects and that differs. */
  readonly nextForAll?: string
}

/** The programs whose configs can be read and written. */
export function agentPrograms(home = homedir(), platform = process.platform): readonly AgentProgram[] {
  const applications = platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.config')
  return [
    {
      name: 'claude-code',
      title: 'Claude Code',
      key: 'mcpServers',
      workspace: '.',
      project: '.mcp.json',
      user: join(home, '.claude.json'),
      isForCode: true,
      isTyped: false,
      next: 'Start claude in this folder and type /mcp.',
      nextForAll: 'Start claude anew, in any folder, and type /mcp.',
    },
    {
      name: 'claude-desktop',
      title: 'Claude Desktop',
      key: 'mcpServers',
      workspace: '.',
      user: join(applications, 'Claude', 'claude_desktop_config.json'),
      isForCode: false,
      isTyped: false,
      next: 'Restart Claude Desktop.',
    },
    {
      name: 'cursor',
      title: 'Cursor',
      key: 'mcpServers',
      workspace: '${workspaceFolder}',
      project: join('.cursor', 'mcp.json'),
      user: join(home, '.cursor', 'mcp.json'),
      isForCode: true,
      isTyped: false,
      next: 'Open Cursor Settings, MCP, and switch tool-hub on.',
    },
    {
      name: 'vscode',
      title: 'VS Code',
      key: 'servers',
      workspace: '${workspaceFolder}',
      project: join('.vscode', 'mcp.json'),
      user: join(applications, 'Code', 'User', 'mcp.json'),
      isForCode: true,
      isTyped: true,
      next: 'Run "MCP: List Servers" and start tool-hub.',
    },
  ]
}
