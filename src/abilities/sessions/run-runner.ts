import type { Runner } from '../../contracts/sessions.ts'
import type { SessionTask } from './session-task.ts'

/** Works on a session with whatever its owner named. */
export async function runRunner(runner: Runner, task: SessionTask): Promise<string> {
  if (runner.type === 'command') return (await import('./run-command.ts')).runCommand(runner, task)
  if (runner.type === 'url') return (await import('./run-url.ts')).runUrl(runner, task)
  return runner.run(task.work)
}

/** Whether nothing of it came past the guards: code of the owner's, or one that the owner trusts. */
export function isTrusted(runner: Runner): boolean {
  return runner.type === 'command' || runner.type === 'url' ? runner.trust === true : true
}
