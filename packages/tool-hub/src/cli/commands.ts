import type { FeatureCommand } from '@tool-hub/core'
import type { Command } from 'commander'
import { featureCommands } from './generated/index.ts'

/** A command that is loaded only when it is asked for; `describe` adds its arguments, options and action. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<(command: Command) => void>
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'Watch a scripted agent work under policy',
    load: async () => (await import('./commands/demo.ts')).describeDemo,
  },
  {
    name: 'serve',
    summary: 'Run the service: console, HTTP, WebSocket, MCP',
    load: async () => (await import('./commands/serve.ts')).describeServe,
  },
  {
    name: 'worker',
    summary: 'Execute calls of services that share the store',
    load: async () => (await import('./commands/worker.ts')).describeWorker,
  },
  {
    name: 'init',
    summary: 'Write a tool-hub.yaml to start from',
    load: async () => (await import('./commands/new.ts')).describeInit,
  },
  {
    name: 'list',
    summary: 'List the tools that an agent sees',
    load: async () => (await import('./commands/list.ts')).describeList,
  },
  {
    name: 'show',
    summary: 'Show everything about one tool',
    load: async () => (await import('./commands/show.ts')).describeShow,
  },
  {
    name: 'call',
    summary: 'Call a tool',
    load: async () => (await import('./commands/call.ts')).describeCall,
  },
  {
    name: 'exec',
    summary: 'Run a command under policy and sandbox',
    load: async () => (await import('./commands/exec.ts')).describeExec,
  },
  {
    name: 'sandbox',
    summary: 'Show what a command could see, write and reach',
    load: async () => (await import('./commands/exec.ts')).describeSandbox,
  },
  {
    name: 'batch',
    summary: 'Call many tools, one JSON line per call',
    load: async () => (await import('./commands/call.ts')).describeBatch,
  },
  {
    name: 'mcp',
    summary: 'Serve the tools over MCP, and manage MCP servers',
    load: async () => (await import('./commands/mcp.ts')).describeMcp,
  },
  {
    name: 'policy',
    summary: 'Explain, check, test and show the policy',
    load: async () => (await import('./commands/policy.ts')).describePolicy,
  },
  {
    name: 'approvals',
    summary: 'List and answer calls that wait for a person',
    load: async () => (await import('./commands/approvals.ts')).describeApprovals,
  },
  {
    name: 'grants',
    summary: 'List and revoke remembered answers',
    load: async () => (await import('./commands/approvals.ts')).describeGrants,
  },
  {
    name: 'labels',
    summary: 'List files with untrusted content, trust some',
    load: async () => (await import('./commands/labels.ts')).describeLabels,
  },
  ...featureCommands.map(({ name, summary, load }) => ({ name, summary, load: () => withKit(load) })),
  {
    name: 'tokens',
    summary: 'Create, list, rotate and revoke tokens of the service',
    load: async () => (await import('./commands/tokens.ts')).describeTokens,
  },
  {
    name: 'runs',
    summary: 'List, show and follow runs',
    load: async () => (await import('./commands/runs.ts')).describeRuns,
  },
  {
    name: 'undo',
    summary: 'Undo the file changes of a call or a run',
    load: async () => (await import('./commands/undo.ts')).describeUndo,
  },
  {
    name: 'store',
    summary: 'Check, back up, migrate and copy the store',
    load: async () => (await import('./commands/store.ts')).describeStore,
  },
  {
    name: 'audit',
    summary: 'Verify that no record was changed',
    load: async () => (await import('./commands/audit.ts')).describeAudit,
  },
  {
    name: 'new',
    summary: 'Write a new tool and its test',
    load: async () => (await import('./commands/new.ts')).describeNew,
  },
  {
    name: 'doctor',
    summary: 'Check this machine and config, suggest fixes',
    load: async () => (await import('./commands/doctor.ts')).describeDoctor,
  },
]

/** The command of a feature, with what the command line provides to it. */
async function withKit(load: () => Promise<FeatureCommand>): Promise<(command: Command) => void> {
  const [describe, { commandKit }] = await Promise.all([load(), import('./command-kit.ts')])
  return (command) => describe(command, commandKit)
}
