import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { bundleModule } from '../../../../../test/support/run-module.ts'

it('closes what the process has from its parent, and nothing of its own', async () => {
  const module = pathToFileURL(await bundleModule('packages/sandbox/src/exec/spawner/command-pipes.ts')).href
  const script = `
    const { closeInherited } = await import(${JSON.stringify(module)})
    const { execFileSync } = await import('node:child_process')
    const closed = closeInherited([41])
    const handedOn = execFileSync('ls', ['/proc/self/fd']).toString().split('\\n')
    console.log(JSON.stringify({ closed: closed.includes(40), kept: handedOn.includes('41'), gone: !handedOn.includes('40') }))
  `
  const words = ['-c', 'exec 40</ 41</; exec "$@"', 'x', process.execPath, '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)('/bin/bash', words)
  expect(JSON.parse(stdout)).toEqual({ closed: true, kept: true, gone: true })
})
