import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'

/** The library path of @anthropic-ai/sandbox-runtime: it wraps a command, we start it. Needs bubblewrap, socat and ripgrep. */
export async function openSandboxRuntime(folder) {
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [folder], denyWrite: [] },
  })
  return {
    async run(command) {
      const child = spawn(await SandboxManager.wrapWithSandbox(command), { shell: true, cwd: folder, stdio: 'pipe' })
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`${command} ended with ${code}`)
    },
    close: () => SandboxManager.reset(),
  }
}
