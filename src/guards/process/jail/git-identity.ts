import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const MAX_MS = 5_000
/** Names and addresses; anything else is not passed on. */
const PLAIN = /^[^\p{Cc}<>]{1,200}$/u

/**
 * Who commits: `user.name` and `user.email` of the repository in the first root, else of the user of the hub, for a git that
 * does not see that user's settings. Empty when there are none.
 */
export async function gitIdentity(root: string | undefined): Promise<Record<string, string>> {
  const own = await settings(['--global', '--includes'])
  const repository = root === undefined ? {} : await settings(['--file', join(root, '.git/config')])
  const { 'user.name': name, 'user.email': email } = { ...own, ...repository }
  return {
    ...(name && { GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name }),
    ...(email && { GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email }),
  }
}

async function settings(where: readonly string[]): Promise<Record<string, string>> {
  const words = ['config', ...where, '--null', '--get-regexp', '^user\\.(name|email)$']
  try {
    const { stdout } = await run('git', words, { cwd: '/', timeout: MAX_MS })
    const pairs = stdout.split('\0').map((entry) => entry.split('\n', 2) as [string, string?])
    return Object.fromEntries(pairs.filter(([, value]) => PLAIN.test(value ?? ''))) as Record<string, string>
  } catch {
    // No git, no such file or no such setting: then git in the sandbox says what it needs.
    return {}
  }
}
