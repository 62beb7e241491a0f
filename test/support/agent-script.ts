import type { ErrorCode } from '@tool-hub/core/errors'

/** A call that a model makes, by the name that it sees, and how it must end. */
export interface ScriptedCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly ends: 'ok' | ErrorCode
}

/** What a model says and does before the next answer; the calls of one turn are made together. */
export interface Turn {
  readonly says: string
  readonly calls: readonly ScriptedCall[]
}

const call = (name: string, args: ScriptedCall['args'], ends: ScriptedCall['ends'] = 'ok'): ScriptedCall => ({
  name,
  args,
  ends,
})
const turn = (says: string, ...calls: ScriptedCall[]): Turn => ({ says, calls })

/** Twenty turns of an agent that mends a small project in `agentWorld`, with all the ways in which a call can end. */
export const AGENT_SCRIPT: readonly Turn[] = [
  turn('I look around.', call('ls', { path: '.' }), call('read', { path: 'README.md' })),
  turn('Where is the greeting?', call('grep', { pattern: 'gre+t', path: 'src', outputMode: 'content' })),
  turn('I read only what I need.', call('read', { path: 'src/app.js', offset: 2, limit: 2 })),
  turn('I mend it.', call('edit', { path: 'src/app.js', oldString: 'Helo', newString: 'Hello' }, 'NOT_FOUND')),
  turn('I misread the line.', call('edit', { path: 'src/app.js', oldString: "'helo", newString: "'hello" })),
  turn('I read a file that I only suppose.', call('read', { path: 'src/util.js' }, 'NOT_FOUND')),
  turn('I write it.', call('write', { path: 'src/util.js', content: 'export const shout = (s) => s\n' })),
  turn('A checksum.', call('core_util_hash_sha256Text', { txt: 'hello' }, 'INPUT_SCHEMA_INVALID')),
  turn('The argument is text.', call('core_util_hash_sha256Text', { text: 'hello' })),
  turn('I clean up.', call('remove_everything', { path: '.', force: true }, 'TOOL_NOT_FOUND')),
  turn('One file then.', call('core_fs_deletePath', { path: 'old.txt', confirm: true })),
  turn('And another one.', call('core_fs_deletePath', { path: 'keep.txt', confirm: true }, 'APPROVAL_DENIED')),
  turn('I change the lock.', call('write', { path: 'locked/key.txt', content: 'mine' }, 'POLICY_DENIED')),
  turn('I leave the project.', call('read', { path: '../outside.txt' }, 'PATH_OUTSIDE_SANDBOX')),
  turn(
    'Three things together.',
    call('write', { path: 'notes/one.md', content: '# one\n' }),
    call('write', { path: 'plans/two.md', content: '# two\n' }),
    call('chat_post', { channel: 'team', text: 'Mended.' }),
  ),
  turn('The whole log.', call('log_show', { lines: 2_000 })),
  turn('I have it checked.', call('project_check', { path: 'src/app.js', report: 'locked/report.md' })),
  turn(
    'Slow, broken and refused.',
    call('time_wait', {}, 'TIMEOUT'),
    call('build_run', {}, 'EXEC_FAILED'),
    call('build_crash', {}, 'TOOL_FAILED'),
    call('chat_post', { channel: 'press', text: 'Mended.' }, 'APPROVAL_DENIED'),
  ),
  turn('I replace what I have read.', call('write', { path: 'README.md', content: '# Greeter\n\nMended.\n' })),
  turn('Done: the greeting is spelled right, and the team knows.'),
]
