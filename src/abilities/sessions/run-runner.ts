import type { Runner } from '../../contracts/sessions.ts'
import { lazyModule } from '../../disk/lazy-module.ts'
import type { SessionTask } from './session-task.ts'

const loadRunCommand = lazyModule(() => import('./run-command.ts'))
const loadRunUrl = lazyModule(() => import('./run-url.ts'))

/** Works on a session with whatever its owner named. */
export async function runRunner(runner: Runner, task: SessionTask): Promise<string> {
  if (runner.type === 'command') return (await loadRunCommand()).runCommand(runner, task)
  if (runner.type === 'url') return (await loadRunUrl()).runUrl(runner, task)
  return runner.run(task.work)
}

/** Whether nothing of it came past the guards: code of the owner's, or one that the owner trusts. */
export function isTrusted(runner: Runner): boolean {
  return runner.type === 'command' || runner.type === 'url' ? runner.trust === true : true
}
