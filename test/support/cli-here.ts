import { afterEach, beforeEach, vi } from 'vitest'
import { runCli } from '../../packages/tool-hub/src/cli/program.ts'
import type { Ended } from './cli.ts'

/** Command lines in the process of the test, and all that they have said in it. */
export interface CliHere {
  run(...words: string[]): Promise<Ended>
  heard(): { readonly stdout: string; readonly stderr: string }
}

/** Lets the tests of a file run command lines of one config in their own process, which is quicker than a process for each. */
export function useCliHere(verb: string, config: string): CliHere {
  let said = { stdout: '', stderr: '' }
  beforeEach(() => {
    said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      vi.spyOn(process[name], 'write').mockImplementation(((text: string, done?: () => void) => {
        said[name] += text
        done?.()
        return true
      }) as never)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    process.exitCode = undefined
  })
  return {
    heard: () => said,
    async run(...words) {
      const before = { ...said }
      const code = await runCli([verb, ...words, '--config', config])
      return { code, stdout: said.stdout.slice(before.stdout.length), stderr: said.stderr.slice(before.stderr.length) }
    },
  }
}
