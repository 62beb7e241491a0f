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
  /** What its agent can still do without tool-hub, and how to switch that off. */
  readonly ungoverned: string
  readonly switchOff: string
  /** Settings that can switch its own tools off for files and commands: `permissions.deny` of these files. */
  readonly permissions?: {
    /** Relative to the project; the first one is written. */
    readonly project: readonly string[]
    readonly user: string
    /** The names of its tools for files and commands. */
    readonly ownTools: readonly string[]
  }
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
      ungoverned:
        'Claude Code still has its own tools for files and commands (Bash, Edit, Write, Read), which bypass tool-hub.',
      switchOff: 'Switch them off with: tool-hub mcp install claude-code --exclusive',
      permissions: {
        project: [join('.claude', 'settings.local.json'), join('.claude', 'settings.json')],
        user: join(home, '.claude', 'settings.json'),
        ownTools: ['Bash', 'Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'Read', 'Glob', 'Grep', 'LS'],
      },
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
      ungoverned: 'Other servers and extensions of Claude Desktop bypass tool-hub.',
      switchOff: 'Switch off those that you do not need, in Settings under Extensions and Developer.',
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
      ungoverned: 'The agent of Cursor still has its own terminal and file tools, which bypass tool-hub.',
      switchOff:
        'Cursor has no setting that removes them: have it ask before each command and edit (Cursor Settings, Agents).',
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
      ungoverned: 'The agent of VS Code still has its own tools for files and the terminal, which bypass tool-hub.',
      switchOff: 'In the Chat view, open Configure Tools and clear all built-in tools.',
      next: 'Run "MCP: List Servers" and start tool-hub.',
    },
  ]
}
