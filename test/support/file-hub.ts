import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ToolResult } from '../../packages/core/src/call.ts'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'

/** A hub whose sandbox is a folder with some files in it; gone when the test is over. */
export interface FileHub {
  readonly hub: TestHub
  /** The sandbox root. */
  readonly root: string
  call(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>
  /** The text that a model sees of a call. */
  text(tool: string, input: unknown): Promise<string>
  read(name: string): string
}

/** Makes the files and a hub over them, under the policy that ships: reading and writing are allowed, destroying is not. */
export function fileHub(files: Readonly<Record<string, string | Uint8Array>>, options: HubOptions): FileHub {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-files-')))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  // A hub has the built-in tools already; a test that names one says what it is about.
  const tools = options.tools?.filter(({ name, override }) => override || !name.startsWith('core/'))
  const hub = testHub({ sandbox: { root }, ...options, tools })
  onTestFinished(async () => {
    await hub.close()
    rmSync(root, { recursive: true, force: true })
  })
  const call: FileHub['call'] = (tool, input, callOptions) => hub.callDynamic(tool, input, callOptions)
  return {
    hub: hub as unknown as TestHub,
    root,
    call,
    async text(tool, input) {
      const { content } = await call(tool, input)
      return content.map((block) => (block.type === 'text' ? block.text : `[${block.mediaType}]`)).join('\n')
    },
    read: (name) => readFileSync(join(root, name), 'utf8'),
  }
}
